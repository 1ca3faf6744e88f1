import { Injectable } from '@nestjs/common';
import { type Expression, type ExpressionBuilder, expressionBuilder, type RawBuilder, type SqlBool } from 'kysely';
import { locking } from '../../database/dialects/dialect.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { forgetUsage } from './usage-deletion.js';

type Correlations = ExpressionBuilder<Schema, 'correlations'>;

export type CorrelationCondition = (correlations: Correlations) => Expression<SqlBool>;

/** What a feature keeps about correlations, as conditions on `correlations`. */
export interface CorrelationUse {
  /** Its artifacts and executions are still read. */
  readsContent: CorrelationCondition;
  /** Something of the feature is left that names the correlation. */
  names: CorrelationCondition;
  /** Deletes what belongs to these correlations alone, together with them. */
  forget?(tx: Transaction, ids: readonly string[]): Promise<void>;
}

/** Correlations that have settled, of which some or all may be deleted. Features say here what they still need. */
@Injectable()
export class SettledCorrelations {
  private readonly uses: CorrelationUse[] = [];

  /** For a feature's start, before any cleanup. */
  add(use: CorrelationUse): void {
    this.uses.push(use);
  }

  /** In a query: the correlation's artifacts and executions may go, as far as the correlation has a say. */
  letsContentGo(settledBy: RawBuilder<number>): Expression<SqlBool> {
    const eb = expressionBuilder<Schema, 'correlations'>();
    return eb.and([isSettled(eb, settledBy), ...this.uses.map((use) => eb.not(use.readsContent(eb)))]);
  }

  /**
   * Holds those that settled at `settledBy` or before, so that nothing is published into them meanwhile. What another transaction
   * holds is left to a later cleanup: whoever works never waits for a cleanup longer than one of its steps.
   */
  async hold(tx: Transaction, ids: readonly string[], settledBy: number): Promise<string[]> {
    const rows = await findSettled(tx.db, { settledBy }, [...new Set(ids)]);
    return rows.map(({ id }) => id);
  }

  /** Deletes those of which nothing is left, out of some that are held; their ids are as good as new then. */
  async removeEmpty(tx: Transaction, held: readonly string[]): Promise<void> {
    const removed = await this.deleteEmpty(tx.db, {}, held);
    const ids = removed.map(({ id }) => id);
    await forgetUsage(tx, ids);
    for (const use of this.uses) await use.forget?.(tx, ids);
  }

  // Made for this application's features, which have all been added when it is first used.
  private readonly deleteEmpty = preparedWithList<object, string, { id: string }>((db, _place, ids) => {
    const eb = expressionBuilder<Schema, 'correlations'>();
    return db
      .deleteFrom('correlations')
      .where('id', 'in', ids)
      .where(({ not, exists, selectFrom }) => not(exists(selectFrom('artifacts').select('seq').whereRef('artifacts.correlation_id', '=', 'correlations.id'))))
      .where(({ not, exists, selectFrom }) => not(exists(selectFrom('executions').select('seq').whereRef('executions.correlation_id', '=', 'correlations.id'))))
      .where(eb.and(this.uses.map((use) => eb.not(use.names(eb)))))
      .returning('id');
  });
}

const isSettled = (eb: Correlations, settledBy: RawBuilder<number>): Expression<SqlBool> =>
  eb.and([eb('correlations.state', '<>', 'active'), eb('correlations.settled_at', '<=', settledBy)]);

const findSettled = preparedWithList<{ settledBy: number }, string, { id: string }>((db, place, ids) =>
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
