import type { Reader } from '../../database/unit-of-work.js';
import { findWaitingAt, type WaitingLine, type WaitingRow } from '../fairness/fair-key-rows.js';
import { findNextInLine, waitingLine } from '../fairness/fair-lines.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { findFirstOfEach } from './blocked-execution-rows.js';
import { keyText } from './key-texts.js';
import { isTurn } from './singleton-turns.js';

/**
 * Returns the executions that start next of those that wait for a limit, as many as `first`: the first by priority and age.
 * These decide between agents, and turns of keys decide which executions of an agent with `fair_by` take its places. Adds
 * to `left` the keys of which none may wait when the executions have gone.
 */
export async function nextInTurns(
  db: Reader,
  key: LimitKey,
  first: readonly WaitingRow[],
  left: Map<WaitingLine, string[]>,
): Promise<WaitingRow[]> {
  if (isTurn(key)) return [...first];
  const inTurns = new Map<string, WaitingRow[]>();
  const fair = Map.groupBy(
    first.filter(({ fair_key }) => fair_key !== null),
    ({ agent }) => agent,
  );
  for (const [agent, some] of fair) {
    const line = waitingLine(agent, keyText(key));
    const { rows, ended } = await findNextInLine(db, line, some.length);
    left.set(line, [...new Set([...ended, ...rows.map(({ fair_key }) => fair_key!)])]);
    inTurns.set(agent, [...rows]);
  }
  return first.flatMap((row) => (row.fair_key === null ? row : (inTurns.get(row.agent)!.shift() ?? [])));
}

/** Key (`keyText`) → the execution that starts next of those that wait for it. */
export async function firstInTurns(db: Reader, texts: readonly string[]): Promise<ReadonlyMap<string, WaitingRow>> {
  const first = await findFirstOfEach(db, {}, texts);
  const positions = first.flatMap((each) => each.first ?? []);
  const rows = new Map((await findWaitingAt(db, {}, positions)).map((row) => [row.seq, row]));
  const found = new Map<string, WaitingRow>();
  for (const { blocked_on: text, first: seq } of first) {
    const row = seq === null ? undefined : rows.get(seq);
    if (!row) continue;
    const [next] = row.fair_key === null ? [row] : (await findNextInLine(db, waitingLine(row.agent, text), 1)).rows;
    found.set(text, next ?? row);
  }
  return found;
}
