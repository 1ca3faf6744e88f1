import type { Logged } from './execution-log.js';
import type { Sent } from './sent.js';

/** A pause of an agent, from the answer to the request that began it until the request that ended it (epoch ms). */
export interface Pause {
  agent: string;
  from: number;
  until: number;
}

/** Returns a line for each execution that started in a pause of its agent in which it was sent. */
export function startedInPauses(
  log: readonly Logged[],
  works: ReadonlyMap<string, { agent: string; sent: Sent }>,
  pauses: readonly Pause[],
): string[] {
  return log.flatMap(({ at, correlation_id: correlation, state }) => {
    const work = state === 'running' && correlation !== null ? works.get(correlation) : undefined;
    const pause = pauses.find(({ agent, from, until }) => agent === work?.agent && work.sent.from > from && at < until);
    return pause ? [`${correlation} starts at ${at} although ${pause.agent} is paused until ${pause.until}`] : [];
  });
}
