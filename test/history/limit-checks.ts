import type { Configuration, Execution, Look } from './entry.ts';
import { answerOf, answers, type History } from './operations.ts';

/** No agent and no batch exceeds its limit, in no snapshot, and by the times at which executions ran. */
export function limitBreaches(history: History): string[] {
  const { agents, batch } = answerOf<Configuration>(history, 'configure');
  const looks = answers<Look>(history, 'look');
  return [
    ...looks.flatMap(({ answer, end }) => [
      ...Object.entries(answer.running)
        .filter(([agent, count]) => count > agents[agent]!)
        .map(([agent, count]) => `${count} executions of ${agent} ran in the snapshot of ${end}, not ${agents[agent]}`),
      ...Object.entries(answer.open)
        .filter(([, count]) => count > batch)
        .map(([id, count]) => `${count} runs of ${id} ran in the snapshot of ${end}, not ${batch}`),
    ]),
    ...Object.entries(agents).flatMap(([agent, limit]) => overlaps(history, agent, limit)),
  ];
}

function overlaps({ operations }: History, agent: string, limit: number): string[] {
  const times = operations.filter(({ name, asked }) => name === 'execute' && (asked as Execution).agent === agent);
  // An end comes before a beginning at the same time.
  const changes = times
    .flatMap(({ begin, end }) => [
      { time: begin, by: 1 },
      { time: end, by: -1 },
    ])
    .sort((one, other) => one.time - other.time || one.by - other.by);
  let running = 0;
  let most = { running: 0, time: 0 };
  for (const { time, by } of changes) {
    running += by;
    if (running > most.running) most = { running, time };
  }
  return most.running > limit ? [`${most.running} executions of ${agent} ran at ${most.time}, not ${limit}`] : [];
}
