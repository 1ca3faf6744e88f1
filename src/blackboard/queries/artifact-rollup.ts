import { Injectable } from '@nestjs/common';
import type { ExpressionBuilder } from 'kysely';

import type { Schema } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { moveOn, positionOf } from './rollup-position.js';

// Artifacts per transaction. They take the writer about one millisecond.
const STEP = 1_000;

/** Adds the newest artifacts to `artifact_counts`, so that totals need to count only a few artifacts besides it. */
@Injectable()
export class ArtifactRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Adds up the next `STEP` artifacts. Returns false when no more are left. */
  async step(): Promise<boolean> {
    // Positions that are not final must wait: an artifact that appears before the rollup's position would never be
    // counted.
    const final = await this.unitOfWork.finalPosition('artifacts');
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, 'artifacts');
      const { last: to, count } = await lastOfStep(tx, from, final);
      if (to === null) return false;
      if (await moveOn(tx, 'artifacts', { from, to })) await addToCounts(tx, from, to);
      // The next run takes the few that arrive meanwhile: a rollup after every publish would cost more than it saves.
      return count === STEP;
    });
  }
}

function lastOfStep(tx: Transaction, from: number, final: number): Promise<{ last: number | null; count: number }> {
  const step = tx.db
    .selectFrom('artifacts')
    .select('seq')
    .where('seq', '>', from)
    .where('seq', '<=', final)
    .orderBy('seq')
    .limit(STEP);
  return tx.db
    .selectFrom(step.as('step'))
    .select((eb) => [eb.fn.max('step.seq').as('last'), eb.fn.countAll<number>().as('count')])
    .executeTakeFirstOrThrow();
}

async function addToCounts(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.db
    .insertInto('artifact_counts')
    .columns(['type', 'produced_by', 'visibility_kind', 'count', 'earliest_created_at', 'latest_created_at'])
    .expression((eb) =>
      eb
        .selectFrom('artifacts')
        .select(['type', 'produced_by', 'visibility_kind'])
        .select((row) => [
          row.fn.countAll<number>().as('count'),
          row.fn.min('created_at').as('earliest_created_at'),
          row.fn.max('created_at').as('latest_created_at'),
        ])
        .where('seq', '>', from)
        .where('seq', '<=', to)
        .groupBy(['type', 'produced_by', 'visibility_kind']),
    )
    .onConflict((conflict) =>
      conflict.columns(['type', 'produced_by', 'visibility_kind']).doUpdateSet((eb) => ({
        count: eb('artifact_counts.count', '+', eb.ref('excluded.count')),
        earliest_created_at: extreme(eb, 'earliest_created_at', '<'),
        latest_created_at: extreme(eb, 'latest_created_at', '>'),
      })),
    )
    .execute();
}

type Upsert = Schema & { excluded: Schema['artifact_counts'] };

/** Postgres and SQLite have different names for least() and greatest(), so this is a CASE. */
const extreme = (
  eb: ExpressionBuilder<Upsert, 'artifact_counts' | 'excluded'>,
  column: 'earliest_created_at' | 'latest_created_at',
  comparison: '<' | '>',
) =>
  eb
    .case()
    .when(`excluded.${column}`, comparison, eb.ref(`artifact_counts.${column}`))
    .then(eb.ref(`excluded.${column}`))
    .else(eb.ref(`artifact_counts.${column}`))
    .end();
