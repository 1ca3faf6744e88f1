import type { Reader } from '../../database/unit-of-work.js';

/** The last ended executions of an agent with this variant, newest first, without replays. */
const newest = (db: Reader, agent: string, variant: string, limit: number) =>
  db
    .selectFrom('executions')
    .where('agent', '=', agent)
    .where('variant', '=', variant)
    .where('replay', '=', 0)
    .where('ended_at', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(limit);

export const findLastOf = (db: Reader, agent: string, variant: string, limit: number) =>
  newest(db, agent, variant, limit)
    .select(['state', 'attempt_started_at', 'ended_at'])
    .$narrowType<{ ended_at: number }>()
    .execute();

/** Sums up the model usage of the same executions, in all their attempts. */
export const sumUsageOf = (db: Reader, agent: string, variant: string, limit: number) =>
  db
    .selectFrom('usage')
    .innerJoin(newest(db, agent, variant, limit).select('id').as('last'), 'last.id', 'usage.execution_id')
    .select(({ fn }) => [
      fn.sum<number | null>('usage.input_tokens').as('input_tokens'),
      fn.sum<number | null>('usage.output_tokens').as('output_tokens'),
      fn.sum<number | null>('usage.cost').as('cost'),
    ])
    .executeTakeFirstOrThrow();
