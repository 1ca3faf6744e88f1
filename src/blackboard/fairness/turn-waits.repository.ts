import { Injectable } from '@nestjs/common';
import { type SelectQueryBuilder, sql } from 'kysely';

import type { Schema } from '../../database/schema.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { Rank } from '../../queue/queue.js';
import type { KnownWork } from '../processes/known-work.js';
import { isReadyWithKey, type WaitingLine, waitingOfKey } from './fair-key-rows.js';

interface Waiting {
  id: string;
  agent: string;
  priority: number;
  background: number;
  seq: number;
  available_at: number | null;
  fair_key: string | null;
}

/** Counts stop here, because a million may wait. */
const MOST_COUNTED = 10_000;

/** Says which place executions have among those that take turns. */
@Injectable()
export class TurnWaits {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Id of an execution → text such as `2 of 41 executions with the key "acme" start before it, and 12 keys take turns`.
   */
  async texts(pending: readonly Waiting[], known: KnownWork): Promise<ReadonlyMap<string, string>> {
    const { reader } = this.unitOfWork;
    const texts = new Map<string, string>();
    for (const row of pending) {
      if (row.fair_key === null || row.available_at !== null) continue;
      const { before, waiting } = await this.counts(row, known);
      const keys = await countKeys(reader, row.agent);
      const turns = keys === 1 ? 'no other key waits' : `${counted(keys)} keys take turns`;
      texts.set(
        row.id,
        `${counted(before)} of ${counted(waiting)} executions with the key ${row.fair_key} start before it, and ${turns}`,
      );
    }
    return texts;
  }

  /**
   * How many ready executions of the agent start before one, and how many wait; with a key, those of the key. Live executions
   * and those of replays share the turns. An execution whose configuration no process has is not counted, because it starts
   * before none.
   */
  async counts(row: Waiting, known: KnownWork): Promise<Counts> {
    const counts = { before: 0, waiting: 0 };
    // Makes several queries, because each reads one range of the index in its order, however many wait.
    for (const configuration of [null, ...known.configurationsFor(row.agent)]) {
      const { before, waiting } = await countsWith(this.unitOfWork.reader, row, configuration);
      counts.before += before;
      counts.waiting += waiting;
    }
    return counts;
  }
}

/** How many executions of its key start before one, how many wait, and how many keys take turns. */
export interface PlaceInLine extends Counts {
  keys: number;
}

/** Finds the place of an execution with a key among those of its agent that wait for a limit. Counts up to `MOST_COUNTED` and one more. */
export async function findPlaceInLine(
  db: Reader,
  line: WaitingLine,
  row: Pick<Waiting, 'fair_key' | 'priority' | 'background' | 'seq'>,
): Promise<PlaceInLine> {
  const first = waitingOfKey(db, { ...line, key: row.fair_key! }).limit(MOST_COUNTED + 1);
  return { ...(await countIn(db, first, row)), keys: await countKeys(db, line.line) };
}

const counted = (count: number): string => (count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count));

interface Counts {
  before: number;
  waiting: number;
}

/** Counts those that need this configuration. */
async function countsWith(
  db: Reader,
  { agent, fair_key, priority, background, seq }: Waiting,
  configuration: string | null,
): Promise<Counts> {
  const first = db
    .selectFrom('executions')
    .select(['priority', 'background', 'seq'])
    .where('agent', '=', agent)
    .$if(fair_key !== null, (rows) => rows.where('fair_key', '=', fair_key).where(isReadyWithKey))
    // The condition of the index `executions_ready`.
    .$if(fair_key === null, (rows) =>
      rows.where('state', '=', sql.lit('pending' as const)).where('available_at', 'is', null),
    )
    .where('configuration', configuration === null ? 'is' : '=', configuration)
    // Without it, Postgres does not use the order of the index if the configuration is null.
    .orderBy('configuration')
    .orderBy('priority', 'desc')
    .orderBy('background')
    .orderBy('seq')
    .limit(MOST_COUNTED + 1);
  return countIn(db, first, { priority, background, seq });
}

async function countIn(
  db: Reader,
  first: SelectQueryBuilder<Schema, 'executions', Rank & { seq: number }>,
  { priority, background, seq }: Rank & { seq: number },
): Promise<Counts> {
  const isBefore = sql`priority > ${priority} or priority = ${priority} and (background < ${background} or background = ${background} and seq < ${seq})`;
  const { before, waiting } = await db
    .selectFrom(first.as('first'))
    .select(({ fn }) => [
      fn.countAll<number>().as('waiting'),
      sql<number>`coalesce(sum(case when ${isBefore} then 1 else 0 end), 0)`.as('before'),
    ])
    .executeTakeFirstOrThrow();
  return { before: Number(before), waiting: Number(waiting) };
}

async function countKeys(db: Reader, line: string): Promise<number> {
  const { count } = await db
    .selectFrom(
      db
        .selectFrom('fair_keys')
        .select('fair_key')
        .distinct()
        .where('agent', '=', line)
        .limit(MOST_COUNTED + 1)
        .as('keys'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
