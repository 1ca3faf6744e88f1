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
import { moveTurns, moveTurnsBack } from './moved-turns.js';
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
  /** One of them, where its turn was counted already. */
  counted_in: string | null;
}

type Keyed = Pick<Limited, 'fair_key' | 'fair_weight'>;

/** An execution with a key, in one of the lines of its limits. */
interface InLine<Row extends Keyed> {
  line: string;
  row: Row;
}

const inLines = <Row extends Limited>(rows: readonly Row[]): InLine<Row>[] =>
  rows
    .filter(({ fair_key }) => fair_key !== null)
    .flatMap((row) => [...new Set(row.limits)].map((limit) => ({ line: waitingLine(row.queue, limit).line, row })));

const isCounted = ({ line, row }: InLine<Limited>): boolean =>
  row.counted_in !== null && waitingLine(row.queue, row.counted_in).line === line;

const rowsOfLines = <Row extends Keyed>(pairs: readonly InLine<Row>[]): Map<string, Row[]> =>
  new Map([...Map.groupBy(pairs, ({ line }) => line)].map(([line, some]) => [line, some.map(({ row }) => row)]));

/** Changes the turns of the lines in which several keys wait. The caller holds the locks of the limits. */
async function changeTurns(tx: Transaction, pairs: readonly InLine<Keyed>[], change: typeof moveTurns): Promise<void> {
  const ofLines = rowsOfLines(pairs);
  for (const { line, virtual_time: virtualTime } of await findShared(tx.db, {}, [...ofLines.keys()]))
    await change(tx, { line, virtualTime }, ofLines.get(line)!);
}

/**
 * Moves the turns of executions that start among those that wait for their limits, whether they have waited or not, except
 * in the line that has counted them. The caller holds the locks of the limits.
 */
export const countStartsInLines = (tx: Transaction, started: readonly Limited[]): Promise<void> =>
  changeTurns(
    tx,
    inLines(started).filter((each) => !isCounted(each)),
    moveTurns,
  );

/**
 * Counts turns of executions that a limit lets go. If their starts counted instead, a limit would let only executions of one
 * key go while their agent cannot start them, such as in a pause, and these would start before those of others.
 */
export const countReleases = (
  tx: Transaction,
  blockedOn: string,
  rows: readonly (Keyed & { agent: string })[],
): Promise<void> =>
  changeTurns(
    tx,
    rows
      .filter(({ fair_key }) => fair_key !== null)
      .map((row) => ({ line: waitingLine(row.agent, blockedOn).line, row })),
    moveTurns,
  );

/** Takes back the turns of executions that do not start although a limit has let them go. */
export const giveBackTurns = (tx: Transaction, waiting: readonly Limited[]): Promise<void> =>
  changeTurns(tx, inLines(waiting).filter(isCounted), moveTurnsBack);

/**
 * Sorts the ready executions of each agent by their turns among those that wait for their limits. If the limits have room
 * for some only, those start whose turn it is, whichever was let go first. A key that has no row there is the next one.
 */
export async function inTurnsOfLines<Row extends Limited>(db: Reader, rows: readonly Row[]): Promise<Row[]> {
  /** How long a row still has to wait, in turns. */
  const waits = new Map<Row, number>();
  const pairs = inLines(rows);
  const counted = Map.groupBy(pairs.filter(isCounted), ({ line }) => line);
  for (const [line, some] of rowsOfLines(pairs)) {
    const ofKeys = Map.groupBy(some, ({ fair_key }) => fair_key!);
    if (ofKeys.size === 1) continue;
    const turns = new Map<string, number>();
    for (const { fair_key, turn, virtual_time } of await findTurns(db, { line }, [...ofKeys.keys()]))
      turns.set(fair_key, Math.min(turns.get(fair_key) ?? Infinity, Math.max(0, turn - virtual_time)));
    for (const { row } of counted.get(line) ?? [])
      if (turns.has(row.fair_key!))
        turns.set(row.fair_key!, turns.get(row.fair_key!)! - lengthOfTurn(row.fair_weight!));
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
