import { type RawBuilder, sql } from 'kysely';

import type { Reader } from '../../database/unit-of-work.js';
import { MOST_COUNTED } from './blocked-execution-rows.js';

/** Values of `executions.blocked_on` between two texts. `after` and `before` are not among them. */
export interface KeyRange {
  after: string;
  before: string;
}

/** The keys of all limits. Each is a JSON list, which begins with `[`. */
export const ALL_KEYS: KeyRange = { after: '', before: ']' };

/** The keys of one limit. */
export function keysOf(limit: string): KeyRange {
  const start = JSON.stringify([limit]).slice(0, -1);
  // The character after the comma.
  return { after: `${start},`, before: `${start}-` };
}

/** The first keys of the range for which executions wait. Jumps from key to key, however many wait for each. */
export async function findBlockedKeys(db: Reader, range: KeyRange, limit: number): Promise<string[]> {
  const { rows } = await sql<{ blocked_on: string }>`
    ${jump(range)} select blocked_on from waiting where blocked_on is not null limit ${limit}`.execute(db);
  return rows.map(({ blocked_on }) => blocked_on);
}

/** Counts what waits for a limit or for one of its keys. */
export interface Blocked {
  /** At most one more than the most that are counted. */
  count: number;
  /** The position of the one that was queued first, of those that are counted. Null if none waits. */
  first: number | null;
}

export interface BlockedKey extends Blocked {
  blocked_on: string;
}

/** Executions of one key that are counted in a list of keys. */
export const MOST_COUNTED_OF_KEY = 1_000;

/** As `findBlockedKeys`, with what waits for each key. */
export async function findBlockedOfKeys(db: Reader, range: KeyRange, limit: number): Promise<BlockedKey[]> {
  const ofKey = sql`(select seq from executions
    where executions.blocked_on = waiting.blocked_on and executions.blocked_on is not null
    limit ${MOST_COUNTED_OF_KEY + 1})`;
  const { rows } = await sql<BlockedKey>`
    ${jump(range)}
    select blocked_on, (select count(*) from ${ofKey} as counted) as count, (select min(seq) from ${ofKey} as counted) as first
    from waiting where blocked_on is not null limit ${limit}`.execute(db);
  return rows.map(({ blocked_on, ...blocked }) => ({ blocked_on, ...asNumbers(blocked) }));
}

/** Counts what waits for all keys of the range together. */
export async function findBlockedIn(db: Reader, { after, before }: KeyRange): Promise<Blocked> {
  const { rows } = await sql<Blocked>`
    select count(*) as count, min(seq) as first
    from (
      select seq from executions where blocked_on is not null and blocked_on > ${after} and blocked_on < ${before}
      limit ${MOST_COUNTED + 1}
    ) as counted`.execute(db);
  return asNumbers(rows[0]!);
}

const asNumbers = ({ count, first }: Blocked): Blocked => ({
  count: Number(count),
  first: first === null ? null : Number(first),
});

function jump({ after, before }: KeyRange): RawBuilder<unknown> {
  const next = (place: RawBuilder<unknown>) =>
    sql`(select blocked_on from executions
      where blocked_on is not null and blocked_on > ${place} and blocked_on < ${before} order by blocked_on limit 1)`;
  return sql`with recursive waiting(blocked_on) as (
    select ${next(sql`${after}`)}
    union all
    select ${next(sql.raw('waiting.blocked_on'))} from waiting where waiting.blocked_on is not null
  )`;
}
