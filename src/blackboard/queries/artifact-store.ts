import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';
import { EXTERNAL } from '../../catalog/definitions.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { ConsumptionsTable } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifact.js';
import type { ArtifactFilter } from './artifact-filter.js';
import { pageOf } from './artifact-pages.js';
import type { PageRequest } from './artifact-rows.js';

export type ConsumptionRow = Selectable<ConsumptionsTable>;

// Payloads can be large; reading a long cascade in parts lets other requests have their turn.
const PART = 500;

/** Reads what has been committed to the blackboard. */
@Injectable()
export class ArtifactStore {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** `undefined` where no artifact has this id. */
  async get(id: string): Promise<ArtifactRow | undefined> {
    const [row] = await findArtifact(this.unitOfWork.reader, { id });
    return row;
  }

  async positionOf(id: string): Promise<number | undefined> {
    const row = await this.unitOfWork.reader.selectFrom('artifacts').select('seq').where('id', '=', id).executeTakeFirst();
    return row?.seq;
  }

  list(filter: ArtifactFilter, page: PageRequest): Promise<ArtifactRow[]> {
    return pageOf(this.unitOfWork.reader, filter, page);
  }

  /** What agents published in a correlation behind a position, in order, by parts. */
  async *producedAfter(correlationId: string, seq: number): AsyncGenerator<ArtifactRow[]> {
    let position = seq;
    for (;;) {
      const rows = await findProduced(this.unitOfWork.reader, { correlationId, position });
      yield rows;
      if (rows.length < PART) return;
      position = rows.at(-1)!.seq;
    }
  }

  /** Who consumed these artifacts, by artifact and in order of time. */
  consumptionsOf(seqs: readonly number[]): Promise<ConsumptionRow[]> {
    return findConsumptions(this.unitOfWork.reader, {}, seqs);
  }
}

const findArtifact = prepared<{ id: string }, ArtifactRow>((db, place) =>
  db.selectFrom('artifacts').selectAll().where('id', '=', place('id')),
);

const findProduced = prepared<{ correlationId: string; position: number }, ArtifactRow>((db, place) =>
  db
    .selectFrom('artifacts')
    .selectAll()
    .where('correlation_id', '=', place('correlationId'))
    .where('seq', '>', place('position'))
    .where('produced_by', '<>', EXTERNAL)
    .orderBy('seq')
    .limit(PART),
);

const findConsumptions = preparedWithList<object, number, ConsumptionRow>((db, _place, seqs) =>
  db
    .selectFrom('consumptions')
    .selectAll()
    .where('artifact_seq', 'in', seqs)
    .orderBy('artifact_seq')
    .orderBy('consumed_at')
    .orderBy('execution_id'),
);
