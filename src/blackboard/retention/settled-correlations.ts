import { Injectable } from '@nestjs/common';
import { type Expression, expressionBuilder, type RawBuilder, type SqlBool } from 'kysely';

import type { Schema } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { forgetUsage } from './deleted-usage-rows.js';
import { listedTerms } from './listed-terms.js';
import {
  type Correlations,
  type DeletedCorrelation,
  deleteTerm,
  deleteUnlistedTerms,
  deletingEmpty,
  findSettled,
  isSettled,
} from './settled-correlation-rows.js';

export type CorrelationCondition = (correlations: Correlations) => Expression<SqlBool>;

/** How a feature uses correlations, as conditions on `correlations`. */
export interface CorrelationUse {
  /** True if the feature still reads the correlation's artifacts and executions. */
  readsContent: CorrelationCondition;
  /** True if the feature still has data that refers to the correlation. */
  names: CorrelationCondition;
  /** Deletes the feature's data about these correlations when they are deleted. */
  forget?(tx: Transaction, ids: readonly string[]): Promise<void>;
}

/** Settled correlations whose content may be deleted. Features add what they still need. */
@Injectable()
export class SettledCorrelations {
  private readonly uses: CorrelationUse[] = [];
  private readonly deleteEmpty = deletingEmpty((eb) => eb.and(this.uses.map((use) => eb.not(use.names(eb)))));

  /** Call this when a feature starts, before the first cleanup. */
  add(use: CorrelationUse): void {
    this.uses.push(use);
  }

  /** A condition for queries: the correlation does not prevent the deletion of its artifacts and executions. */
  letsContentGo(settledBy: RawBuilder<number>): Expression<SqlBool> {
    const eb = expressionBuilder<Schema, 'correlations'>();
    return eb.and([isSettled(eb, settledBy), ...this.uses.map((use) => eb.not(use.readsContent(eb)))]);
  }

  /**
   * Locks the correlations that settled at or before `settledBy`, so that nothing is published into them meanwhile, and
   * returns their ids. It skips those that another transaction has locked: a later cleanup finds them. Other work
   * therefore never waits for more than one step of a cleanup.
   */
  async hold(tx: Transaction, ids: readonly string[], settledBy: number): Promise<string[]> {
    const rows = await findSettled(tx.db, { settledBy }, [...new Set(ids)]);
    return rows.map(({ id }) => id);
  }

  /** Deletes those of the locked correlations that are empty. Their ids can then be used as new ones. */
  async removeEmpty(tx: Transaction, held: readonly string[]): Promise<void> {
    const removed = await this.deleteEmpty(tx.db, {}, held);
    const ids = removed.map(({ id }) => id);
    await deleteTerms(tx, removed);
    await forgetUsage(tx, ids);
    for (const use of this.uses) await use.forget?.(tx, ids);
  }
}

async function deleteTerms({ db }: Transaction, removed: readonly DeletedCorrelation[]): Promise<void> {
  for (const correlation of removed) {
    for (const { kind, value } of listedTerms(correlation)) await deleteTerm(db, { ...correlation, kind, value });
  }
  await deleteUnlistedTerms(
    db,
    {},
    removed.map(({ seq }) => seq),
  );
}
