import type { Logged } from './execution-log.js';
import { FileHistory } from './file-history.js';
import { valueOf } from './value-of.js';

/** An execution as `fair_by` sees it. */
export interface FairWork {
  key: string;
  weight: number;
  /** When it was sent (epoch ms). It has a key if a configuration since then says so. */
  sentAt?: number;
}

/** A configuration as `fair_by` sees it. */
export interface FairFile {
  hasKeys: boolean;
}

/** A key that waits, and the starts of others since its own last one, or since it waits. */
interface FairKey {
  weight: number;
  ready: Set<string>;
  /** Since when it waits, as a position in the log. */
  since: number;
  others: Map<string, number>;
}

/**
 * Returns a line for each key of `fair_by` that had to wait for too many starts of another one. The agent must have a
 * `concurrency` of 1, because the log does not have the order of what starts in one transaction. What a limit has let go before a
 * key waits may start before it. `more`: how many starts more a key may wait for. With `holds`, an execution that has started
 * before holds a limit and may start before others again. `history`: of the configurations. Keys take turns while all processes
 * have `fair_by`, and executions that were queued without it are left out.
 */
export function unfair(
  log: readonly Logged[],
  works: ReadonlyMap<string, FairWork>,
  {
    more = 0,
    holds = false,
    history = new FileHistory<FairFile>([{ hasKeys: true }]),
  }: { more?: number; holds?: boolean; history?: FileHistory<FairFile> } = {},
): string[] {
  const keys = new Map<string, FairKey>();
  const started = new Set<string>();
  /** The position at which a limit has let an execution go. */
  const released = new Map<string, number>();
  const blocked = new Set<string>();
  const breaches: string[] = [];
  /** The execution → whether it has its key. */
  const keyed = new Map<string, boolean>();
  for (const entry of log) {
    const { execution, correlation_id: correlation, state, retry_at: retryAt, blocked_on: blockedOn, seq } = entry;
    if (entry.process !== null) history.read(entry);
    const inTurns = history.current.every(({ hasKeys }) => hasKeys);
    if (!inTurns) for (const { others } of keys.values()) others.clear();
    const fair = correlation === null ? undefined : works.get(correlation);
    if (!fair) continue;
    if (!keyed.has(execution!) && state === 'pending' && retryAt === null) {
      const expected = history
        .since(fair.sentAt ?? -Infinity)
        .map(({ hasKeys }) => (hasKeys ? JSON.stringify(fair.key) : null));
      if (!expected.includes(entry.fair_key))
        breaches.push(`${execution} has the key ${entry.fair_key}, which no configuration says`);
      keyed.set(execution!, entry.fair_key !== null);
    }
    if (!keyed.get(execution!)) continue;
    const own = valueOf(keys, fair.key, () => ({
      weight: fair.weight,
      ready: new Set(),
      since: seq,
      others: new Map(),
    }));
    if (state === 'pending' && retryAt === null) {
      if (own.ready.size === 0) own.since = seq;
      own.ready.add(execution!);
      if (blockedOn !== null) blocked.add(execution!);
      else if (blocked.delete(execution!)) released.set(execution!, seq);
      continue;
    }
    own.ready.delete(execution!);
    if (own.ready.size === 0 || state === 'running') own.others.clear();
    if (state !== 'running') continue;
    const isHeld = holds && started.has(execution!);
    started.add(execution!);
    if (isHeld || !inTurns) continue;
    const releasedAt = released.get(execution!) ?? Infinity;
    released.delete(execution!);
    for (const [name, { weight, ready, since, others }] of keys) {
      if (name === fair.key || ready.size === 0 || releasedAt < since) continue;
      const count = (others.get(fair.key) ?? 0) + 1;
      others.set(fair.key, count);
      const most = Math.floor(fair.weight / weight) + 1 + more;
      if (count > most) breaches.push(`${count} of ${fair.key} start before one of ${name} at ${seq}, not ${most}`);
    }
  }
  return breaches;
}
