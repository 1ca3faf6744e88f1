import type { Logged } from './execution-log.js';
import type { FairFile } from './fair-model.js';
import type { FileHistory } from './file-history.js';
import { isBefore, type Sent } from './sent.js';

/** An execution as `priority` sees it. */
export interface RankedWork {
  priority: number;
  sent: Sent;
  /** From its first start until it has ended, also between its attempts, no other one starts. */
  keepsTurn?: boolean;
}

/**
 * Returns a line for each execution that started although one with a higher priority, or an older one with the same priority,
 * was waiting. They must start one at a time, by `singleton` or a `concurrency` of 1: claims read what waits after the last
 * execution has ended. Those for a limit read it before they lock the limit. `history`: of the configurations. While a process
 * has `fair_by`, they may start in any order.
 */
export function outOfOrder(
  log: readonly Logged[],
  works: ReadonlyMap<string, RankedWork>,
  history?: FileHistory<FairFile>,
): string[] {
  const waiting = new Map(works);
  const running = new Set<string>();
  const breaches: string[] = [];
  let lastEnd = 0;
  for (const entry of log) {
    const { at, correlation_id: correlation, state } = entry;
    if (entry.process !== null) history?.read(entry);
    const work = correlation === null ? undefined : works.get(correlation);
    if (!work) continue;
    if (state === 'running' && !running.has(correlation!)) {
      running.add(correlation!);
      const isFirst = waiting.delete(correlation!);
      if ((work.keepsTurn && !isFirst) || history?.current.some(({ hasKeys }) => hasKeys)) continue;
      const passedOver = [...waiting].find(([, other]) => other.sent.until < lastEnd && isNext(other, work));
      if (passedOver) breaches.push(`${correlation} starts before ${passedOver[0]}, which has waited at ${lastEnd}`);
    } else if (state !== 'running') {
      if (running.delete(correlation!)) lastEnd = at;
      // It may be cancelled before it starts.
      if (state !== 'pending') waiting.delete(correlation!);
    }
  }
  return breaches;
}

const isNext = (one: RankedWork, other: RankedWork): boolean =>
  one.priority > other.priority || (one.priority === other.priority && isBefore(one.sent, other.sent));
