import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Settings } from '../../config/settings.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';
import { SettledCorrelations } from './settled-correlations.js';
import { deleteUsage } from './usage-deletion.js';

interface Ended {
  id: string;
  correlation_id: string;
}

/**
 * Deletes executions that ended longer than `retain_executions` ago, with their inputs, attempts, model usage and tool
 * calls. Their consumptions are deleted with the artifacts. It keeps executions of an active correlation or of a stored
 * run.
 */
@Injectable()
export class ExecutionDeletion implements Deletion {
  readonly name = 'executions';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly correlations: SettledCorrelations,
  ) {}

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainExecutionsMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    return cleanup.deleteEnded<Ended>(cutoff, {
      next: (after) => findSome(reader, { after }),
      due: (ids) => this.free(reader, { settledBy: cleanup.settledBy, cutoff }, ids),
      remove: (tx, free) => this.deleteFree(tx, cleanup, cutoff, free),
    });
  }

  private async deleteFree(
    tx: Transaction,
    { settledBy }: Cleanup,
    cutoff: number,
    found: readonly Ended[],
  ): Promise<number> {
    const held = await this.correlations.hold(
      tx,
      found.map(({ correlation_id }) => correlation_id),
      settledBy,
    );
    const candidates = found.filter(({ correlation_id }) => held.includes(correlation_id)).map(({ id }) => id);
    const free = await this.free(tx.db, { settledBy, cutoff }, candidates);
    const ids = free.map(({ id }) => id);
    await deleteInputs(tx.db, {}, ids);
    await deleteAttempts(tx.db, {}, ids);
    await deleteUsage(tx, ids);
    await deleteToolCalls(tx.db, {}, ids);
    await deleteExecutions(tx.db, {}, ids);
    await this.correlations.removeEmpty(tx, held);
    return free.length;
  }

  private readonly free = preparedWithList<{ settledBy: number; cutoff: number }, string, Ended>((db, place, ids) =>
    db
      .selectFrom('executions')
      .innerJoin('correlations', 'correlations.id', 'executions.correlation_id')
      .select(['executions.id', 'executions.correlation_id'])
      .where('executions.id', 'in', ids)
      // As in queue/state-predicate.ts: a lookup by id must not use the partial indexes on ended executions.
      .where(sql<number>`coalesce(executions.ended_at, ${sql.lit(Number.MAX_SAFE_INTEGER)})`, '<=', place('cutoff'))
      .where(this.correlations.letsContentGo(place('settledBy'))),
  );
}

const findSome = prepared<{ after: number }, { seq: number; id: string; created_at: number }>((db, place) =>
  db
    .selectFrom('executions')
    .select(['seq', 'id', 'created_at'])
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(AT_ONCE),
);

const deleteInputs = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('execution_inputs').where('execution_id', 'in', ids),
);

const deleteAttempts = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('execution_attempts').where('execution_id', 'in', ids),
);

const deleteToolCalls = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('tool_calls').where('execution_id', 'in', ids),
);

const deleteExecutions = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('executions').where('id', 'in', ids),
);
