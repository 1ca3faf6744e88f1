import type { Reader, Transaction } from '../../database/unit-of-work.js';
import {
  findKeysThatWait,
  findWaitingAt,
  findWaitingOfKey,
  type WaitingLine,
  type WaitingRow,
} from './fair-key-rows.js';
import { findKeysAfter, findShared, findTurns } from './fair-line-rows.js';
import { FairSearch, type FoundInTurns } from './fair-search.js';
import { moveTurns } from './moved-turns.js';
import { lengthOfTurn } from './turn-order.js';

const SEPARATOR = '\t';

/** The name in `fair_keys` of the executions of an agent that wait for a limit (`executions.blocked_on`). */
export const waitingLine = (agent: string, blockedOn: string): WaitingLine => ({
  line: agent + SEPARATOR + blockedOn,
  agent,
  blockedOn,
});

/** Null if it is the name of an agent. */
function parseLine(line: string): WaitingLine | null {
  const [agent, blockedOn] = line.split(SEPARATOR);
  return blockedOn === undefined ? null : waitingLine(agent!, blockedOn);
}

const search = new FairSearch<WaitingLine, WaitingRow>({
  findKeys: findKeysThatWait,
  findAt: findWaitingAt,
  findOfKey: findWaitingOfKey,
});

/** Finds the executions of an agent that start next of those that wait for a limit, if their keys take turns. */
export const findNextInLine = (db: Reader, line: WaitingLine, limit: number): Promise<FoundInTurns<WaitingRow>> =>
  search.find(db, line, limit);

interface Limited {
  /** Its agent. */
  queue: string;
  fair_key: string | null;
  fair_weight: number | null;
  /** In the form of `executions.blocked_on`: its limits. */
  limits: readonly string[];
}

const linesOf = ({ queue, limits }: Limited): string[] =>
  [...new Set(limits)].map((limit) => waitingLine(queue, limit).line);

/** Line → those of the rows with a key that have its limit. */
function rowsOfLines<Row extends Limited>(rows: readonly Row[]): Map<string, Row[]> {
  const pairs = rows
    .filter(({ fair_key }) => fair_key !== null)
    .flatMap((row) => linesOf(row).map((line) => ({ line, row })));
  return new Map([...Map.groupBy(pairs, ({ line }) => line)].map(([line, some]) => [line, some.map(({ row }) => row)]));
}

/**
 * Moves the turns of executions that start among those that wait for their limits, whether they have waited or not. The
 * caller holds the locks of the limits.
 */
export async function countStartsInLines(tx: Transaction, started: readonly Limited[]): Promise<void> {
  const ofLines = rowsOfLines(started);
  for (const { line, virtual_time: virtualTime } of await findShared(tx.db, {}, [...ofLines.keys()]))
    await moveTurns(tx, { line, virtualTime }, ofLines.get(line)!);
}

/**
 * Sorts the ready executions of each agent by their turns among those that wait for their limits. If the limits have room
 * for some only, those start whose turn it is, whichever was let go first. A key that has no row there is the next one.
 */
export async function inTurnsOfLines<Row extends Limited>(db: Reader, rows: readonly Row[]): Promise<Row[]> {
  /** How long a row still has to wait, in turns. */
  const waits = new Map<Row, number>();
  for (const [line, some] of rowsOfLines(rows)) {
    const ofKeys = Map.groupBy(some, ({ fair_key }) => fair_key!);
    if (ofKeys.size === 1) continue;
    const turns = new Map<string, number>();
    for (const { fair_key, turn, virtual_time } of await findTurns(db, { line }, [...ofKeys.keys()]))
      turns.set(fair_key, Math.min(turns.get(fair_key) ?? Infinity, Math.max(0, turn - virtual_time)));
    for (const [key, ofKey] of ofKeys) {
      let wait = turns.get(key) ?? 0;
      for (const row of ofKey) {
        waits.set(row, Math.max(wait, waits.get(row) ?? 0));
        wait += lengthOfTurn(row.fair_weight!);
      }
    }
  }
  if (waits.size === 0) return [...rows];
  const sorted = new Map(
    [...Map.groupBy([...waits.keys()], ({ queue }) => queue)].map(([queue, some]) => [
      queue,
      some.sort((one, other) => waits.get(one)! - waits.get(other)!),
    ]),
  );
  return rows.map((row) => (waits.has(row) ? sorted.get(row.queue)!.shift()! : row));
}

/** Keys that are looked at together. */
const KEYS_IN_PART = 1_000;

/** One page of the keys of all lines. `last`: the position after which the next page begins; null on the last page. */
export interface KeysInLines {
  keys: ReadonlyMap<WaitingLine, string[]>;
  last: number | null;
}

export async function findKeysInLines(db: Reader, after: number): Promise<KeysInLines> {
  const rows = await findKeysAfter(db, { after, limit: KEYS_IN_PART });
  const keys = new Map<WaitingLine, string[]>();
  for (const [name, some] of Map.groupBy(rows, ({ agent }) => agent)) {
    const line = parseLine(name);
    if (line)
      keys.set(
        line,
        some.map(({ fair_key }) => fair_key),
      );
  }
  return { keys, last: rows.length < KEYS_IN_PART ? null : rows.at(-1)!.seq };
}
