import { sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Removes the join groups that runs and replays have left when they ended: no artifact can arrive in them any more. */
export const abandonedGroups: NumberedMigration = {
  name: '0042-abandoned-groups',
  oldestProgram: '0.1.0',
  async up(db) {
    await sql`
      delete from join_groups where state = 'waiting' and closes_at is null and exists (
        select 1 from join_arrivals join correlations on correlations.id = join_arrivals.correlation_id
        where join_arrivals.group_id = join_groups.id and (
          origin is not null and correlations.state <> 'active' and error_count = 0
          or closed = 1 and exists (
            select 1 from subscriptions where subscriptions.agent = join_groups.agent
              and subscriptions.number = join_groups.subscription and identity like '%,"by":null}%'
          )
        )
      )`.execute(db);
    await sql`
      delete from join_arrivals where not exists (
        select 1 from join_groups where join_groups.id = join_arrivals.group_id
      )`.execute(db);
  },
};
