import { type Insertable, sql } from 'kysely';

import { startOfHour, startOfMinute } from '../../common/time-steps.js';
import { prepared } from '../../database/prepared.js';
import type { ActivityTable } from '../../database/schema.js';
import { sharedInsert, sharing } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { latencyBucket, NO_LATENCY } from '../queries/latency-buckets.js';
import type { ExecutionRow } from './leased-executions.js';

const ACTIVITY_COLUMNS = [
  'agent',
  'hour',
  'minute',
  'executions',
  'failures',
  'artifacts_consumed',
  'artifacts_produced',
  'event',
  'bucket',
  'events',
] as const;

const COUNTS = ['executions', 'failures', 'artifacts_consumed', 'artifacts_produced', 'events'] as const;

const NO_EXECUTION = { executions: 0, failures: 0, artifacts_consumed: 0, artifacts_produced: 0 };

/** Counts an execution that was added with a lease at `now`, if it was added as running. */
export const countStart = (tx: Transaction, id: string, now: number): Promise<unknown> =>
  insertStart(tx.db, { id, ...at(now), bucket: latencyBucket(0) });

/** Counts an execution that starts at `now`, when it is added. */
export const countImmediateStart = (tx: Transaction, { agent }: { agent: string }, now: number): Promise<void> =>
  insertActivity(tx.db, [
    { agent, ...at(now), ...NO_EXECUTION, event: 'started', bucket: latencyBucket(0), events: 1 },
  ]);

/** Counts those of the claimed executions that start, rather than repeat an attempt or begin another one. */
export async function countStarts(tx: Transaction, claimed: readonly ExecutionRow[], now: number): Promise<void> {
  const starting = claimed.filter(({ attempt_started_at }) => attempt_started_at === null);
  const rows = new Map<string, Parameters<typeof insertActivity>[1][number]>();
  for (const { queue: agent, round, created_at } of starting) {
    // It is not stored when a client retried an execution.
    const bucket = round === 0 ? latencyBucket(now - created_at) : NO_LATENCY;
    const events = (rows.get(`${bucket} ${agent}`)?.events ?? 0) + 1;
    rows.set(`${bucket} ${agent}`, { agent, ...at(now), ...NO_EXECUTION, event: 'started', bucket, events });
  }
  await insertActivity(tx.db, [...rows.values()]);
}

/** Counts an attempt that failed and is followed by another one. */
export const countRetry = (tx: Transaction, { agent }: { agent: string }, now: number): Promise<void> =>
  insertActivity(tx.db, [{ agent, ...at(now), ...NO_EXECUTION, event: 'retried', bucket: NO_LATENCY, events: 1 }]);

/** Counts an execution that has completed or failed. `started_at`: of its last attempt, null if it had none. */
export const countEnd = (
  tx: Transaction,
  { agent, inputs, withoutRun }: { agent: string; inputs: readonly unknown[]; withoutRun?: boolean },
  { started_at }: { started_at: number | null },
  now: number,
  { event, outputs }: { event: 'completed' | 'failed'; outputs: number },
): Promise<void> =>
  withoutRun
    ? countEndsWithoutRun(tx, 1, now)
    : insertActivity(tx.db, [
        {
          agent,
          ...at(now),
          executions: 1,
          failures: event === 'failed' ? 1 : 0,
          artifacts_consumed: inputs.length,
          artifacts_produced: outputs,
          event,
          bucket: started_at === null ? NO_LATENCY : latencyBucket(now - started_at),
          events: 1,
        },
      ]);

/**
 * Counts executions that have ended without a run of their agents: a replay took them from the record, or had no answer.
 * They belong to no agent's activity, so the row names none.
 */
export const countEndsWithoutRun = (tx: Transaction, executions: number, now: number): Promise<void> =>
  insertActivity(tx.db, [{ agent: '', ...at(now), ...NO_EXECUTION, executions, event: null, bucket: null, events: 0 }]);

const insertStart = sharing<{ id: string; hour: number; minute: number; bucket: number }, unknown>(
  prepared((db, place) =>
    db
      .insertInto('activity')
      .columns(ACTIVITY_COLUMNS)
      .expression(
        sql`select agent, ${place('hour')}, ${place('minute')}, 0, 0, 0, 0, 'started', ${place('bucket')}, 1
        from executions where id = ${place('id')} and state = 'running'`,
      ),
  ),
  {
    table: 'activity',
    columns: ['executions.id', 'hour', 'minute', 'bucket'],
    rowOf: (start) => start,
    key: 'id',
    answers: false,
    addsRows: true,
    build: (db, given) =>
      db
        .insertInto('activity')
        .columns(ACTIVITY_COLUMNS)
        .expression(
          sql`select executions.agent, given.hour, given.minute, 0, 0, 0, 0, 'started', given.bucket, count(*)
          from ${given} join executions on executions.id = given.id where executions.state = 'running'
          group by executions.agent, given.hour, given.minute, given.bucket`,
        ),
  },
);

const at = (now: number): { hour: number; minute: number } => ({ hour: startOfHour(now), minute: startOfMinute(now) });

type ActivityRow = Pick<Insertable<ActivityTable>, (typeof ACTIVITY_COLUMNS)[number]>;

/** Adds up rows that count the same event of the same agent at the same time. */
function addedUp(rows: readonly ActivityRow[]): ActivityRow[] {
  const same = Map.groupBy(rows, ({ agent, minute, event, bucket }) => JSON.stringify([agent, minute, event, bucket]));
  return [...same.values()].map((some) => ({
    ...some[0]!,
    ...Object.fromEntries(COUNTS.map((count) => [count, some.reduce((sum, row) => sum + (row[count] ?? 0), 0)])),
  }));
}

const insertActivity = sharedInsert('activity', ACTIVITY_COLUMNS, addedUp);
