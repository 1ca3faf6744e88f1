import { type QueryCreator, type RawBuilder, sql, type SqlBool } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import { sharing } from '../../database/shared-statement.js';
import { BY_CORRELATION } from '../matching/subscription-numbers.js';

interface GroupOf {
  correlation_id: string;
  group_id: string;
}

const groupsOf = (db: QueryCreator<Schema>, isOfCorrelation: RawBuilder<SqlBool>) =>
  db.selectFrom('join_arrivals').select(['correlation_id', 'group_id']).distinct().where(isOfCorrelation);

const joinsOf = (db: QueryCreator<Schema>, isOfCorrelation: RawBuilder<SqlBool>) =>
  groupsOf(db, isOfCorrelation).where(({ exists, selectFrom }) =>
    exists(
      selectFrom('subscriptions')
        .select('number')
        .whereRef('subscriptions.agent', '=', 'join_arrivals.agent')
        .whereRef('subscriptions.number', '=', 'join_arrivals.subscription')
        .where('identity', 'like', sql.lit(BY_CORRELATION)),
    ),
  );

const finding = (query: typeof groupsOf | typeof joinsOf) =>
  sharing<{ correlationId: string }, GroupOf>(
    prepared((db, place) => query(db, sql`correlation_id = ${place('correlationId')}`)),
    {
      table: 'join_arrivals',
      columns: ['correlation_id'],
      rowOf: ({ correlationId }) => ({ correlation_id: correlationId }),
      key: 'correlation_id',
      answers: true,
      addsRows: false,
      build: (db, given) => query(db, sql`correlation_id = any(array(select given.correlation_id from ${given}))`),
    },
  );

/** Finds the groups in which artifacts of a correlation wait. */
export const findGroupsOf = finding(groupsOf);

/** Finds the groups in which artifacts of a correlation wait for others of the same correlation. */
export const findJoinsWithin = finding(joinsOf);
