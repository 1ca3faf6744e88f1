import { sql } from 'kysely';

import { prepared } from '../../database/prepared.js';
import { ACTIVITY_COLUMNS } from '../../database/schema/activity-tables.js';
import { RESOLUTIONS } from './activity-resolutions.js';
import type { Range } from './rollup-rows.js';

/** Adds the rows of `activity` in a range to the totals of their hours. */
export const addToHours = prepared<Range, unknown>((db, place) =>
  db
    .insertInto('activity_hours')
    .columns(ACTIVITY_COLUMNS)
    .expression(
      db
        .selectFrom('activity')
        .select(({ fn }) => [
          'agent',
          'hour',
          fn.sum<number>('executions').as('executions'),
          fn.sum<number>('failures').as('failures'),
          fn.sum<number>('artifacts_consumed').as('artifacts_consumed'),
          fn.sum<number>('artifacts_produced').as('artifacts_produced'),
          fn.sum<number>('input_tokens').as('input_tokens'),
          fn.sum<number>('output_tokens').as('output_tokens'),
          fn.sum<number | null>('cost').as('cost'),
        ])
        .where('seq', '>', place('from'))
        .where('seq', '<=', place('to'))
        // The other rows only count an event.
        .where(({ or, eb }) => or([eb('event', 'is', null), eb('executions', '>', 0)]))
        .groupBy(['agent', 'hour']),
    )
    .onConflict((conflict) =>
      conflict.columns(['agent', 'hour']).doUpdateSet((eb) => ({
        executions: eb('activity_hours.executions', '+', eb.ref('excluded.executions')),
        failures: eb('activity_hours.failures', '+', eb.ref('excluded.failures')),
        artifacts_consumed: eb('activity_hours.artifacts_consumed', '+', eb.ref('excluded.artifacts_consumed')),
        artifacts_produced: eb('activity_hours.artifacts_produced', '+', eb.ref('excluded.artifacts_produced')),
        input_tokens: eb('activity_hours.input_tokens', '+', eb.ref('excluded.input_tokens')),
        output_tokens: eb('activity_hours.output_tokens', '+', eb.ref('excluded.output_tokens')),
        cost: sql<number | null>`coalesce(activity_hours.cost + excluded.cost, activity_hours.cost, excluded.cost)`,
      })),
    ),
);

/** Adds the events of the rows of `activity` in a range to the counts of each resolution. */
export const addToCounts = prepared<Range, unknown>((db, place) =>
  db
    .insertInto('activity_counts')
    .columns(['resolution', 'start', 'agent', 'event', 'bucket', 'count'])
    .expression(
      db
        // Grouped by minute first, so that the rows are read once for all resolutions.
        .with(
          (cte) => cte('minutes').materialized(),
          () =>
            db
              .selectFrom('activity')
              .select(({ fn }) => ['minute', 'agent', 'event', 'bucket', fn.sum<number>('events').as('count')])
              .where('seq', '>', place('from'))
              .where('seq', '<=', place('to'))
              .where('event', 'is not', null)
              .groupBy(['minute', 'agent', 'event', 'bucket']),
        )
        .selectFrom('minutes')
        .innerJoin(resolutions, (join) => join.onTrue())
        .select(({ fn }) => [
          'resolution',
          sql<number>`minute - minute % resolution`.as('start'),
          'agent',
          'event',
          'bucket',
          fn.sum<number>('minutes.count').as('count'),
        ])
        .groupBy(['resolution', 'start', 'agent', 'event', 'bucket']),
    )
    .onConflict((conflict) =>
      conflict.columns(['resolution', 'start', 'agent', 'event', 'bucket']).doUpdateSet((eb) => ({
        count: eb('activity_counts.count', '+', eb.ref('excluded.count')),
      })),
    ),
);

const resolutions = sql<{ resolution: number }>`(${sql.join(
  RESOLUTIONS.map(({ stepMs }) => sql`select ${sql.lit(stepMs)} as resolution`),
  sql` union all `,
)})`.as<'resolutions'>('resolutions');
