import { Injectable } from '@nestjs/common';

import type { BatchState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

/** Reads what data sets are made of. */
@Injectable()
export class DataSourcesRepository {
  async batch(db: Reader, id: string): Promise<{ seq: number; status: BatchState } | undefined> {
    return db
      .selectFrom('batches')
      .select(['seq', 'status'])
      .where('id', '=', id)
      .where('status', 'not in', ['importing', 'removed'])
      .executeTakeFirst();
  }

  /** Returns the runs of some rows of a batch, after one of them. Rows that repeat another one are left out. */
  runs(
    db: Reader,
    seq: number,
    { after, limit }: { after: number; limit: number },
  ): Promise<{ position: number; run_id: string }[]> {
    return db
      .selectFrom('batch_rows')
      .select(['position', 'run_id'])
      .where('batch_seq', '=', seq)
      .where('position', '>', after)
      .where('run_id', 'is not', null)
      .$narrowType<{ run_id: string }>()
      .orderBy('position')
      .limit(limit)
      .execute();
  }

  /** Returns the ids of artifacts, by position. */
  async idsAt(db: Reader, seqs: readonly number[]): Promise<Map<number, string>> {
    if (seqs.length === 0) return new Map();
    const rows = await db.selectFrom('artifacts').select(['seq', 'id']).where('seq', 'in', seqs).execute();
    return new Map(rows.map(({ seq, id }) => [seq, id]));
  }
}
