import { sql } from 'kysely';

import { places, prepared, preparedInsert } from '../../database/prepared.js';
import { ACTIVITY_COLUMNS } from '../../database/schema/activity-tables.js';

export interface Sums {
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
}

export type StoredUsage = Sums & { seq: number; model: string; latency_ms: number };

export const insertUsage = preparedInsert('usage', [
  'execution_id',
  'attempt',
  'lease_token',
  'agent',
  'correlation_id',
  'model',
  'input_tokens',
  'output_tokens',
  'cost',
  'latency_ms',
  'at',
]);

export const insertToolCalls = preparedInsert('tool_calls', [
  'execution_id',
  'attempt',
  'lease_token',
  'server',
  'tool',
  'outcome',
  'at',
  'duration_ms',
  'result_bytes',
]);

export const insertActivity = preparedInsert('activity', ACTIVITY_COLUMNS);

export const updateUsage = prepared<Sums & { seq: number; latency_ms: number }, unknown>((db, place) =>
  db
    .updateTable('usage')
    .set(places(place, ['input_tokens', 'output_tokens', 'cost', 'latency_ms']))
    .where('seq', '=', place('seq')),
);

/** Finds the stored usage of an attempt. */
export const findUsage = prepared<{ id: string; leaseToken: string }, StoredUsage>((db, place) =>
  db
    .selectFrom('usage')
    .select(['seq', 'model', 'input_tokens', 'output_tokens', 'cost', 'latency_ms'])
    .where('execution_id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken'))
    .limit(1),
);

/** Finds one tool call of an attempt. */
export const findToolCall = prepared<{ id: string; leaseToken: string }, { seq: number }>((db, place) =>
  db
    .selectFrom('tool_calls')
    .select('seq')
    .where('execution_id', '=', place('id'))
    .where('lease_token', '=', place('leaseToken'))
    .limit(1),
);

/** The usage of an agent in a correlation, including usage whose rows retention has deleted. */
export const sumSpent = prepared<
  { correlationId: string; agent: string },
  { tokens: number | string; cost: number | string }
>((db, place) =>
  db
    .selectFrom(
      db
        .selectFrom('usage')
        .select([sql<number>`input_tokens + output_tokens`.as('tokens'), 'cost'])
        .where('correlation_id', '=', place('correlationId'))
        .where('agent', '=', place('agent'))
        .unionAll(
          db
            .selectFrom('deleted_usage')
            .select(['tokens', 'cost'])
            .where('correlation_id', '=', place('correlationId'))
            .where('agent', '=', place('agent')),
        )
        .as('spent'),
    )
    .select(({ fn }) => [
      fn.coalesce(fn.sum<number>('tokens'), sql.lit(0)).as('tokens'),
      fn.coalesce(fn.sum<number>('cost'), sql.lit(0)).as('cost'),
    ]),
);
