import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { CorrelationsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

export type CorrelationRow = Selectable<CorrelationsTable>;

@Injectable()
export class CorrelationsRepository {
  async find(db: Reader, id: string): Promise<CorrelationRow | undefined> {
    const [row] = await findOne(db, { id });
    return row;
  }
}

const findOne = prepared<{ id: string }, CorrelationRow>((db, place) =>
  db.selectFrom('correlations').selectAll().where('id', '=', place('id')),
);
