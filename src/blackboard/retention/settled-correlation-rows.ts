import { type Expression, type ExpressionBuilder, expressionBuilder, type RawBuilder, sql, type SqlBool } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { CorrelationTermKind, Schema } from '../../database/schema.js';
import type { CorrelationRow } from '../correlations/tracked-correlation.js';

export type DeletedCorrelation = Pick<CorrelationRow, 'id' | 'seq' | 'started_at' | 'terms'>;

export type Correlations = ExpressionBuilder<Schema, 'correlations'>;

/** A condition for queries: a correlation settled at or before `settledBy`. */
export const isSettled = (eb: Correlations, settledBy: RawBuilder<number>): Expression<SqlBool> =>
  eb.and([eb('correlations.state', '<>', 'active'), eb('correlations.settled_at', '<=', settledBy)]);

/** Finds and locks those of the correlations that settled at or before `settledBy`, without those that are locked. */
export const findSettled = preparedWithList<{ settledBy: number }, string, { id: string }>((db, place, ids) =>
  locking(
    db,
    db
      .selectFrom('correlations')
      .select('id')
      .where('id', 'in', ids)
      .where(isSettled(expressionBuilder<Schema, 'correlations'>(), place('settledBy'))),
    { wait: false },
  ),
);

/**
 * Makes a query that deletes those of the correlations that have no artifact and no execution and meet the condition.
 * The condition is built on first use, after all features have started.
 */
export const deletingEmpty = (condition: (correlations: Correlations) => Expression<SqlBool>) =>
  preparedWithList<object, string, DeletedCorrelation>((db, _place, ids) =>
    db
      .deleteFrom('correlations')
      .where('id', 'in', ids)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('artifacts').select('seq').whereRef('artifacts.correlation_id', '=', 'correlations.id'))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(selectFrom('executions').select('seq').whereRef('executions.correlation_id', '=', 'correlations.id')),
        ),
      )
      .where(condition(expressionBuilder<Schema, 'correlations'>()))
      .returning(['id', 'seq', 'started_at', 'terms']),
  );

/** Deletes one term of a correlation. */
export const deleteTerm = prepared<
  { kind: CorrelationTermKind; value: string; started_at: number; seq: number },
  unknown
>((db, place) =>
  db
    .deleteFrom('correlation_terms')
    .where('kind', '=', place('kind'))
    .where('value', '=', place('value'))
    .where('started_at', '=', place('started_at'))
    .where('correlation_seq', '=', place('seq')),
);

/** Deletes the terms that the rows of these correlations do not list. */
export const deleteUnlistedTerms = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('correlation_terms').where('unlisted', '=', sql.lit(1)).where('correlation_seq', 'in', seqs),
);
