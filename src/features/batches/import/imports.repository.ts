import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Processes } from '../../../blackboard/processes/processes.js';
import { Clock } from '../../../common/clock.js';
import { DomainError } from '../../../common/domain-error.js';
import { Settings } from '../../../config/settings.js';
import { amongFound, locking } from '../../../database/dialects/dialect.js';
import { prepared, preparedInsert } from '../../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import { isLostIn } from '../../../queue/lease.js';
import { WaitingBytes } from '../waiting-bytes.js';
import type { BatchDraft, ImportRow } from './import-rows.js';
import { storeKeys } from './row-key-store.js';

const DELETED_AT_ONCE = 1_000;

/** Rows to store in one transaction. */
interface RowsPart {
  rows: readonly ImportRow[];
  /** Bytes that their runs will store. */
  bytes: number;
  hasKeys: boolean;
}

/**
 * Batches whose rows are being imported, in `status` `importing`. Every method is one transaction or several short
 * ones.
 */
@Injectable()
export class ImportsRepository {
  constructor(
    private readonly processes: Processes,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly waiting: WaitingBytes,
  ) {}

  /** Stores the batch. Returns its `seq`. */
  async begin({ id, agent, maxWorkers, staticInputs }: BatchDraft): Promise<number> {
    await this.discardEarlier(id);
    const now = this.clock.now();
    const counts = { total_items: 0, succeeded_items: 0, failed_items: 0, running_runs: 0, next_position: 0, round: 0 };
    const lease = { import_owner: this.processes.own, import_until: now + this.settings.leaseMs };
    const times = { created_at: now, started_at: null, ended_at: null };
    return this.unitOfWork.run(async ({ db }) => {
      const { seq } = await db
        .insertInto('batches')
        .values({
          id,
          agent,
          status: 'importing',
          max_workers: maxWorkers,
          static_inputs: JSON.stringify(staticInputs),
          error: null,
          ...counts,
          ...lease,
          ...times,
        })
        .returning('seq')
        .executeTakeFirstOrThrow();
      return seq;
    });
  }

  /**
   * Stores rows from position `start` on. Throws DomainError `unavailable` if the import was discarded meanwhile.
   */
  async add(seq: number, start: number, { rows, bytes, hasKeys }: RowsPart): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const held = await renewLease(tx.db, {
        seq,
        owner: this.processes.own,
        bytes,
        until: this.clock.now() + this.settings.leaseMs,
      });
      if (held.length === 0) throw GIVEN_UP;
      this.waiting.changed(tx, bytes);
      const stored = rows.map(({ inputs, problem }, index) => ({
        batch_seq: seq,
        position: start + index,
        inputs,
        problem,
        repeats: null as number | null,
        copies: 0,
      }));
      if (hasKeys)
        await storeKeys(
          tx,
          stored,
          rows.map(({ key }) => key!),
        );
      await insertRows(tx.db, stored);
    });
  }

  /** Marks the batch as running. Call it when all rows are stored. */
  async finish(seq: number, totalItems: number): Promise<void> {
    await this.unitOfWork.run(async ({ db }) => {
      const { numUpdatedRows } = await db
        .updateTable('batches')
        .set({ status: 'running', total_items: totalItems, import_owner: null, import_until: null })
        .where('seq', '=', seq)
        .where('status', '=', 'importing')
        .where('import_owner', '=', this.processes.own)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) throw GIVEN_UP;
    });
    // They are not deleted before, because the lease could expire while millions of keys are deleted.
    await this.deleteKeys(seq);
  }

  /** Deletes the row keys of imported batches that a crash left at the end of the import. */
  async removeOldKeys(): Promise<void> {
    const { reader } = this.unitOfWork;
    const old = await reader
      .selectFrom('batches')
      .select('seq')
      .where('status', '<>', 'importing')
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('batch_keys').select('key').whereRef('batch_keys.batch_seq', '=', 'batches.seq')),
      )
      .execute();
    for (const { seq } of old) await this.deleteKeys(seq);
  }

  /** Deletes an unfinished import with its rows. A finished one stays. */
  async discard(seq: number): Promise<void> {
    // Without an owner no process can add rows any more, even if the owner was only slow.
    if (!(await this.giveUp(seq))) return;
    await this.deleteKeys(seq);
    await this.deleteInParts(async ({ db }) => {
      const part = db.selectFrom('batch_rows').select('position').where('batch_seq', '=', seq).limit(DELETED_AT_ONCE);
      return db
        .deleteFrom('batch_rows')
        .where('batch_seq', '=', seq)
        .where(amongFound(db, 'position', part))
        .executeTakeFirst();
    });
    await this.unitOfWork.run(({ db }) =>
      db.deleteFrom('batches').where('seq', '=', seq).where('status', '=', 'importing').execute(),
    );
  }

  /** Returns the `seq` of the imports that have no live owner. */
  async abandoned(): Promise<number[]> {
    const { reader } = this.unitOfWork;
    const found = await reader
      .selectFrom('batches')
      .select('seq')
      .where('status', '=', 'importing')
      .where(({ eb, or }) => {
        const isHeldByNone = isLostIn(
          ['import_owner', 'import_until'],
          this.processes.own,
          this.clock.now(),
          this.unitOfWork,
        );
        return or([isHeldByNone, eb('import_owner', 'is', null)]);
      })
      .execute();
    return found.map(({ seq }) => seq);
  }

  /**
   * Discards the import that a crashed process began for the same id. A repeated request with its idempotency key needs
   * this.
   */
  private async discardEarlier(id: string): Promise<void> {
    const earlier = await this.unitOfWork.reader
      .selectFrom('batches')
      .select('seq')
      .where('id', '=', id)
      .where('status', '=', 'importing')
      .executeTakeFirst();
    if (earlier) await this.discard(earlier.seq);
  }

  /** Takes the import from its owner. Returns false if it is finished or deleted. */
  private giveUp(seq: number): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      const importing = tx.db
        .selectFrom('batches')
        .select('stored_bytes')
        .where('seq', '=', seq)
        .where('status', '=', 'importing');
      const held = await locking(tx.db, importing, { wait: true }).executeTakeFirst();
      if (!held) return false;
      await tx.db.updateTable('batches').set({ import_owner: null, stored_bytes: 0 }).where('seq', '=', seq).execute();
      this.waiting.changed(tx, -held.stored_bytes);
      return true;
    });
  }

  private deleteKeys(seq: number): Promise<void> {
    return this.deleteInParts(({ db }) => {
      const part = db.selectFrom('batch_keys').select('key').where('batch_seq', '=', seq).limit(DELETED_AT_ONCE);
      return db
        .deleteFrom('batch_keys')
        .where('batch_seq', '=', seq)
        .where(amongFound(db, 'key', part))
        .executeTakeFirst();
    });
  }

  private async deleteInParts(deletePart: (tx: Transaction) => Promise<{ numDeletedRows: bigint }>): Promise<void> {
    let deleted = DELETED_AT_ONCE;
    while (deleted === DELETED_AT_ONCE) deleted = Number((await this.unitOfWork.run(deletePart)).numDeletedRows);
  }
}

const GIVEN_UP = new DomainError(
  'unavailable',
  'The import of the rows was interrupted for too long; send the batch again',
);

const insertRows = preparedInsert('batch_rows', ['batch_seq', 'position', 'inputs', 'problem', 'repeats', 'copies']);

const renewLease = prepared<{ seq: number; owner: string; until: number; bytes: number }, { seq: number }>(
  (db, place) =>
    db
      .updateTable('batches')
      .set({ import_until: place('until'), stored_bytes: sql<number>`stored_bytes + ${place('bytes')}` })
      .where('seq', '=', place('seq'))
      .where('status', '=', sql.lit('importing' as const))
      .where('import_owner', '=', place('owner'))
      .returning('seq'),
);
