import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { OUTSIDE } from '../../catalog/definitions.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import type { ArtifactFilter } from './artifact-filter.js';
import { pageOf } from './artifact-pages.js';
import type { PageRequest } from './artifact-rows.js';
import { SIZE, wireColumns, type WireRow } from './wire-rows.js';

/** Bytes. A single artifact's texts are read with its row up to this size. */
const MOST_IN_ONE = 64 * 1_024;

/** Bytes. The same limit for all artifacts of a page together. */
const MOST_IN_PAGE = 256 * 1_024;

/** Reads committed artifacts. */
@Injectable()
export class ArtifactStore {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Returns undefined if no artifact has this id. */
  async get(id: string): Promise<ArtifactRow | undefined> {
    const [row] = await findArtifact(this.unitOfWork.reader, { id });
    return row;
  }

  /** Returns the bytes of the artifact's texts, or undefined if no artifact has this id. */
  async sizeOf(id: string): Promise<number | undefined> {
    const [row] = await findSize(this.unitOfWork.reader, { id });
    return row?.bytes;
  }

  /** Returns the artifact, without its texts if they are large, or undefined if no artifact has this id. */
  async find(id: string): Promise<WireRow | undefined> {
    const [row] = await findSized(this.unitOfWork.reader, { id, most: MOST_IN_ONE });
    return row;
  }

  async positionOf(id: string): Promise<number | undefined> {
    const row = await this.unitOfWork.reader
      .selectFrom('artifacts')
      .select('seq')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.seq;
  }

  list(filter: ArtifactFilter, page: Omit<PageRequest, 'most'>): Promise<WireRow[]> {
    return pageOf(this.unitOfWork.reader, filter, { ...page, most: Math.floor(MOST_IN_PAGE / page.limit) });
  }

  /** Returns the positions of a page. */
  async positions(filter: ArtifactFilter, page: Omit<PageRequest, 'most'>): Promise<number[]> {
    const rows = await pageOf(this.unitOfWork.reader, filter, { ...page, most: 0 });
    return rows.map(({ seq }) => seq);
  }

  /** Returns what is known of the artifact at a position without reading its payload. Throws if none is stored there. */
  async headAt(
    seq: number,
  ): Promise<{ id: string; type: string; correlationId: string; replay: number; payloadBytes: number }> {
    return this.unitOfWork.reader
      .selectFrom('artifacts')
      .select(['id', 'type', 'correlation_id as correlationId', 'replay'])
      .select(sql<number>`octet_length(payload)`.as('payloadBytes'))
      .where('seq', '=', seq)
      .executeTakeFirstOrThrow();
  }

  /** Returns the artifacts in the order of `seqs`, without those that retention has deleted. */
  async at(seqs: readonly number[]): Promise<ArtifactRow[]> {
    const found = new Map((await findArtifacts(this.unitOfWork.reader, {}, seqs)).map((row) => [row.seq, row]));
    return seqs.flatMap((seq) => found.get(seq) ?? []);
  }

  /** Returns what agents published in a correlation after a position, sorted by position. */
  producedAfter(correlationId: string, position: number, limit: number, most: number): Promise<WireRow[]> {
    return findProduced(this.unitOfWork.reader, { correlationId, position, limit, most });
  }
}

const findArtifact = prepared<{ id: string }, ArtifactRow>((db, place) =>
  db.selectFrom('artifacts').selectAll().where('id', '=', place('id')),
);

const findSize = prepared<{ id: string }, { bytes: number }>((db, place) =>
  db.selectFrom('artifacts').select(SIZE.as('bytes')).where('id', '=', place('id')),
);

const findArtifacts = preparedWithList<object, number, ArtifactRow>((db, _place, seqs) =>
  db.selectFrom('artifacts').selectAll().where('seq', 'in', seqs),
);

const findSized = prepared<{ id: string; most: number }, WireRow>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(wireColumns(place('most')))
    .where('id', '=', place('id')),
);

const findProduced = prepared<{ correlationId: string; position: number; limit: number; most: number }, WireRow>(
  (db, place) =>
    db
      .selectFrom('artifacts')
      .select(wireColumns(place('most')))
      .where('correlation_id', '=', place('correlationId'))
      .where('seq', '>', place('position'))
      .where('produced_by', 'not in', OUTSIDE)
      .orderBy('seq')
      .limit(place('limit')),
);
