import type { Configuration, End, Execution, RequestName } from './entry.ts';
import { answerOf, type History, type Operation, requestsByKey } from './operations.ts';

/** The artifacts that follow from one request, itself included, by type. */
const ARTIFACTS: Record<Exclude<RequestName, 'batch'>, Record<string, number>> = {
  order: { Order: 1, Price: 1, Parcel: 3, Shipment: 1, Label: 3, Checked: 3, Stamp: 1, File: 1, Seal: 3 },
  left: { Left: 1 },
  right: { Right: 1 },
  run: { Row: 1, Done: 1 },
  nap: { Nap: 1, Slept: 1 },
};

/** The executions that follow from one request, by agent. */
const EXECUTIONS: Record<Exclude<RequestName, 'batch'>, Record<string, number>> = {
  order: { pricer: 1, packer: 1, shipper: 1, labeller: 3, checker: 3, stamper: 1, filer: 1, sealer: 3 },
  left: {},
  right: {},
  run: { clerk: 1 },
  nap: { sleeper: 1 },
};

/** Their artifacts and executions come from several requests. */
const SHARED_TYPES = ['Audit', 'Match'];
const SHARED_AGENTS = ['auditor', 'matchmaker'];
const OUTPUTS_OF_PACKER = 3;

/** All work that was stored was finished, and once. */
export function workBreaches(history: History): string[] {
  const end = answerOf<End>(history, 'end');
  const { batch_rows: rows } = answerOf<Configuration>(history, 'configure');
  return [
    ...requestWork(history, end),
    ...executionBreaches(history, end),
    ...pairs(end),
    ...end.correlations
      .filter(({ state }) => state !== 'completed' && state !== 'cancelled')
      .map(({ request, state }) => `${request} is ${state} at the end`),
    ...end.runs
      .filter(({ status }) => status !== 'completed' && status !== 'cancelled')
      .map(({ request, status }) => `the run ${request} is ${status} at the end`),
    ...end.batches.flatMap((batch) => batchBreaches(batch, end, rows)),
  ];
}

function requestWork(history: History, { artifacts, correlations }: End): string[] {
  const requests = requestsByKey(history);
  const cancelled = new Set(correlations.filter(({ state }) => state === 'cancelled').map(({ request }) => request));
  const executions = executionsOf(history);
  const byRequest = Map.groupBy(
    artifacts.filter(({ type }) => !SHARED_TYPES.includes(type)),
    ({ request }) => request,
  );
  return [...byRequest].flatMap(([request, found]) => {
    const name = requests.get(request)?.[0]!.name as RequestName | undefined;
    if (name === undefined || name === 'batch') return [];
    if (cancelled.has(request)) return [...differences(request, { Nap: 1 }, found, ({ type }) => type)];
    const ran = executions.filter((one) => one.request === request && !SHARED_AGENTS.includes(one.agent));
    return [
      ...differences(request, ARTIFACTS[name], found, ({ type }) => type),
      ...differences(request, EXECUTIONS[name], ran, ({ agent }) => `execution of ${agent}`, 'execution of '),
    ];
  });
}

function differences<T>(
  request: string,
  expected: Readonly<Record<string, number>>,
  found: readonly T[],
  nameOf: (one: T) => string,
  prefix = '',
): string[] {
  const counts = Map.groupBy(found, nameOf);
  const names = new Set([...counts.keys(), ...Object.keys(expected).map((name) => prefix + name)]);
  return [...names].flatMap((name) => {
    const count = counts.get(name)?.length ?? 0;
    const due = expected[name.slice(prefix.length)] ?? 0;
    return count === due ? [] : [`${request} has ${count} ${name}, not ${due}`];
  });
}

/** An execution and how each of its times ended. */
interface Ran extends Execution {
  id: string;
  outcomes: Operation['outcome'][];
}

const executionsOf = ({ operations }: History): Ran[] =>
  [
    ...Map.groupBy(
      operations.filter(({ name }) => name === 'execute'),
      ({ key }) => key,
    ),
  ].map(([id, times]) => ({ id, outcomes: times.map(({ outcome }) => outcome), ...(times[0]!.asked as Execution) }));

/** An execution completes once, as the last that happens to it. It has published then, and otherwise nothing. */
function executionBreaches(history: History, { artifacts }: End): string[] {
  const outputs = Map.groupBy(artifacts, ({ execution }) => execution);
  return executionsOf(history).flatMap(({ id, agent, outcomes }) => {
    const done = outcomes.indexOf('ok');
    const due = done < 0 ? 0 : agent === 'packer' ? OUTPUTS_OF_PACKER : 1;
    const count = outputs.get(id)?.length ?? 0;
    const what = `execution ${id} of ${agent}`;
    return [
      ...(done >= 0 && done < outcomes.length - 1 ? [`${what} ran again after it had completed`] : []),
      ...(outcomes.includes('info') ? [`${what} never ended`] : []),
      ...(count === due ? [] : [`${what} has ${count} outputs, not ${due}`]),
    ];
  });
}

/** Two halves make one match. */
function pairs({ artifacts }: End): string[] {
  const count = (type: string): Map<number | null, unknown[]> =>
    Map.groupBy(
      artifacts.filter((one) => one.type === type),
      ({ n }) => n,
    );
  const [lefts, rights, matches] = [count('Left'), count('Right'), count('Match')];
  return [...new Set([...lefts.keys(), ...matches.keys()])].flatMap((n) => {
    const due = lefts.has(n) && rights.has(n) ? 1 : 0;
    const found = matches.get(n)?.length ?? 0;
    return found === due ? [] : [`pair ${n} has ${found} matches, not ${due}`];
  });
}

function batchBreaches(batch: End['batches'][number], { artifacts }: End, rows: number): string[] {
  const done = artifacts.filter(({ type, request }) => type === 'Done' && request === batch.request);
  const distinct = new Set(done.map(({ n }) => n)).size;
  return [
    ...(batch.status === 'completed' && batch.succeeded === rows && batch.open === 0
      ? []
      : [`${batch.request} is ${batch.status} with ${batch.succeeded} rows done and ${batch.open} open`]),
    ...(done.length === rows && distinct === rows
      ? []
      : [`${batch.request} has ${done.length} outputs of ${distinct} rows, not ${rows}`]),
  ];
}
