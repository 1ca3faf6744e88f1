import type { Reader } from '../../database/unit-of-work.js';
import type { FairKeyRow, FindKeys, Line } from './fair-key-rows.js';
import { nextTurns } from './turn-order.js';

/** The queries of a kind of line. */
export interface LineQueries<Of extends Line, Row> {
  findKeys: FindKeys<Of>;
  findAt(db: Reader, values: object, positions: readonly number[]): Promise<Row[]>;
  findOfKey(db: Reader, values: Of & { key: string; limit: number }): Promise<Row[]>;
}

/** The first rows of a key. `isAll`: it has no others. */
interface OfKey<Row> {
  rows: Row[];
  isAll: boolean;
}

/**
 * A key with executions. `ready`: the position of the first. `turn`: at least the virtual time, because a key has an earlier
 * one if its executions waited for another process, or if the transaction that added it took long.
 */
type ReadyKey = FairKeyRow & { ready: number };

/** The keys that come next. `idle`: those before and among them that have no execution. */
interface NextKeys {
  keys: ReadyKey[];
  idle: string[];
  /** True if the line has no more keys. */
  isAll: boolean;
  virtualTime: number;
}

/** The rows that come next if the keys of a line take turns. */
export interface FoundInTurns<Row> {
  rows: Row[];
  virtualTime: number;
  /** Keys that have no other rows. */
  ended: string[];
  /** True if the line has no more keys. */
  isAll: boolean;
}

/** If some of the first keys have no execution, each further query reads so many times as many keys, up to a number. */
const GROWTH = 8;
const MOST_KEYS = 1_000;

/**
 * Finds the rows of a line that come next. Reads as many keys as rows are asked for, more only to pass keys without rows,
 * and of each key only the rows that its turns allow, however many wait.
 */
export class FairSearch<Of extends Line, Row extends { fair_key: string | null }> {
  constructor(private readonly queries: LineQueries<Of, Row>) {}

  async find(db: Reader, line: Of, limit: number): Promise<FoundInTurns<Row>> {
    const { keys, idle, isAll, virtualTime } = await this.nextKeys(db, line, limit);
    const { rows, ofKeys } = await this.inTurns(db, line, keys, limit);
    return {
      rows,
      virtualTime,
      ended: [...idle, ...[...ofKeys].flatMap(([key, ofKey]) => (ofKey.isAll ? [key] : []))],
      isAll,
    };
  }

  /** Passes keys that have no execution: all were cancelled, or are assigned to others. */
  private async nextKeys(db: Reader, line: Of, limit: number): Promise<NextKeys> {
    const keys = new Map<string, ReadyKey>();
    const idle: string[] = [];
    // Turns that were given back may be negative.
    let place = { turn: Number.NEGATIVE_INFINITY, key: '' };
    let isAll = false;
    let virtualTime = 0;
    for (let count = limit; keys.size < limit && !isAll; count = Math.min(count * GROWTH, MOST_KEYS)) {
      const rows = await this.queries.findKeys(db, { ...line, ...place, limit: count });
      for (const row of rows) {
        if (keys.size === limit) break;
        place = { turn: row.turn, key: row.fair_key };
        virtualTime = row.virtual_time;
        if (row.ready === null) idle.push(row.fair_key);
        else if (!keys.has(row.fair_key))
          keys.set(row.fair_key, { ...row, ready: row.ready, turn: Math.max(row.turn, virtualTime) });
      }
      isAll = rows.length < count;
    }
    return { keys: [...keys.values()], idle, isAll, virtualTime };
  }

  /**
   * Asks for more rows of a key only if the turns of others that have fewer rows fall to it. One query reads the rows of all
   * keys that come once.
   */
  private async inTurns(
    db: Reader,
    line: Of,
    keys: readonly ReadyKey[],
    limit: number,
  ): Promise<{ rows: Row[]; ofKeys: ReadonlyMap<string, OfKey<Row>> }> {
    const ofKeys = new Map<string, OfKey<Row>>();
    const positions = new Map(keys.map(({ fair_key: key, ready }) => [key, ready]));
    for (;;) {
      const order = nextTurns(
        keys.map(({ fair_key: key, turn, weight }) => ({ key, turn, weight, most: mostOf(ofKeys.get(key)) })),
        limit,
      );
      const lacking = [...counted(order)].filter(([key, count]) => count > (ofKeys.get(key)?.rows.length ?? -1));
      if (lacking.length === 0) return { rows: inOrder(order, ofKeys), ofKeys };
      const once = lacking.flatMap(([key, count]) => (count === 1 ? [positions.get(key)!] : []));
      for (const row of await this.queries.findAt(db, {}, once))
        ofKeys.set(row.fair_key!, { rows: [row], isAll: false });
      const more = lacking.filter(([key, count]) => count > (ofKeys.get(key)?.rows.length ?? 0));
      await Promise.all(
        more.map(async ([key, count]) => {
          const rows = await this.queries.findOfKey(db, { ...line, key, limit: count });
          ofKeys.set(key, { rows, isAll: rows.length < count });
        }),
      );
    }
  }
}

const mostOf = (known: OfKey<unknown> | undefined): number => (known?.isAll ? known.rows.length : Infinity);

function counted(order: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of order) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function inOrder<Row>(order: readonly string[], ofKeys: ReadonlyMap<string, OfKey<Row>>): Row[] {
  const passed = new Map<string, number>();
  return order.map((key) => {
    const index = passed.get(key) ?? 0;
    passed.set(key, index + 1);
    return ofKeys.get(key)!.rows[index]!;
  });
}
