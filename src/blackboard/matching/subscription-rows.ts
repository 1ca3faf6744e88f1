import { type RawBuilder, type Selectable, sql, type SqlBool } from 'kysely';

import type { SubscriptionsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** A subscription as the database refers to it. */
export interface SubscriptionPlace {
  agent: string;
  /** Its number among the agent's subscriptions. */
  subscription: number;
}

export type SubscriptionRow = Selectable<SubscriptionsTable>;

export const findSubscriptions = ({ db }: Transaction, agent: string): Promise<SubscriptionRow[]> =>
  db.selectFrom('subscriptions').selectAll().where('agent', '=', agent).execute();

export async function insertSubscription({ db }: Transaction, row: SubscriptionRow): Promise<void> {
  await db.insertInto('subscriptions').values(row).execute();
}

/** Finds the subscriptions of all processes in which artifacts wait. */
export const findAwaited = (db: Reader): Promise<SubscriptionPlace[]> =>
  db
    .selectFrom('subscriptions')
    .select(['agent', 'number as subscription'])
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('join_groups')
          .select('join_groups.id')
          .whereRef('join_groups.agent', '=', 'subscriptions.agent')
          .whereRef('join_groups.subscription', '=', 'subscriptions.number'),
      ),
    )
    .execute();

/** A condition for queries: a row of `join_groups` belongs to one of these subscriptions. */
export const isAmong = (places: readonly SubscriptionPlace[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`(join_groups.agent, join_groups.subscription) in (values ${sql.join(places.map(({ agent, subscription }) => sql`(${agent}, cast(${subscription} as integer))`))})`;
