import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { prepared, preparedWithList } from '../../database/prepared.js';
import type { CorrelationsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

export type CorrelationRow = Selectable<CorrelationsTable>;

@Injectable()
export class CorrelationsRepository {
  async find(db: Reader, id: string): Promise<CorrelationRow | undefined> {
    const [row] = await findOne(db, { id });
    return row;
  }

  /** Returns those that exist, in the order of `seqs`. */
  async findAll(db: Reader, seqs: readonly number[]): Promise<CorrelationRow[]> {
    const rows = new Map((await findSome(db, {}, seqs)).map((row) => [row.seq, row]));
    return seqs.flatMap((seq) => rows.get(seq) ?? []);
  }
}

const findOne = prepared<{ id: string }, CorrelationRow>((db, place) =>
  db.selectFrom('correlations').selectAll().where('id', '=', place('id')),
);

const findSome = preparedWithList<object, number, CorrelationRow>((db, _place, seqs) =>
  db.selectFrom('correlations').selectAll().where('seq', 'in', seqs),
);
