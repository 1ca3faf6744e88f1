import { type RawBuilder, sql } from 'kysely';

import { toTimestamp } from '../../common/timestamp.js';
import { memoize, preparedWithList } from '../../database/prepared.js';
import type { ArtifactRow } from '../artifacts/artifact.js';

const COLUMNS = [
  'seq',
  'id',
  'type',
  'version',
  'produced_by',
  'visibility_kind',
  'partition_key',
  'correlation_id',
  'execution_id',
  'created_at',
] as const;

/**
 * An artifact for an answer. `texts` holds the columns that are stored as JSON, in the form of the wire. The payload is
 * sent as it is stored: parsing and serializing it takes longer than reading it, and many times its size in memory.
 */
export type WireRow = Pick<ArtifactRow, (typeof COLUMNS)[number]> & {
  /** Null if it is larger than the query's limit. */
  texts: string | null;
};

export type WholeRow = WireRow & { texts: string };

/** Bytes of an artifact's texts in UTF-8. */
export const SIZE = sql<number>`octet_length(artifacts.payload) + octet_length(artifacts.tags) + octet_length(artifacts.visibility)`;

const TEXTS = sql<string>`artifacts.payload || ',"tags":' || artifacts.tags || ',"visibility":' || artifacts.visibility`;

/** The columns of a WireRow, with texts of up to `most` bytes: a page of large texts would fill the memory. */
export const wireColumns = (most: RawBuilder<number>) => [
  ...COLUMNS.map((column) => sql.ref(`artifacts.${column}`).as(column)),
  sql<string | null>`case when ${SIZE} <= ${most} then ${TEXTS} end`.as('texts'),
];

/** The row that a query would return for this artifact, whatever its size. */
export const wholeRow = ({ payload, tags, visibility, ...row }: ArtifactRow): WholeRow => ({
  ...row,
  texts: `${payload},"tags":${tags},"visibility":${visibility}`,
});

export const isWhole = (row: WireRow): row is WholeRow => row.texts !== null;

/** Returns the artifact's JSON text (docs/api.md, "Query artifacts"). `more` contains further fields. */
export const artifactText = (row: WholeRow, more = ''): string =>
  `{"id":"${row.id}${beforePayload(row.type)}${row.texts}${afterVisibility(row.produced_by)}${toTimestamp(row.created_at)}",` +
  `"correlation_id":${JSON.stringify(row.correlation_id)},"partition_key":${JSON.stringify(row.partition_key)},"version":${row.version},"execution_id":${JSON.stringify(row.execution_id)},"visibility_kind":"${row.visibility_kind}"${more}}`;

// There are few types and producers. Joining a few long strings is faster than joining many short ones.
const beforePayload = memoize((type: string): string => `","type":${JSON.stringify(type)},"payload":`);
const afterVisibility = memoize(
  (producer: string): string => `,"produced_by":${JSON.stringify(producer)},"created_at":"`,
);

export const findWhole = preparedWithList<object, number, WholeRow>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(COLUMNS).select(TEXTS.as('texts')).where('seq', 'in', seqs),
);

export const findPayloads = preparedWithList<object, number, { seq: number; payload: string }>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(['seq', 'payload']).where('seq', 'in', seqs),
);

/** Finds the bytes of each artifact's texts. */
export const findSizes = preparedWithList<object, number, { seq: number; bytes: number }>((db, _place, seqs) =>
  db
    .selectFrom('artifacts')
    .select(['seq', SIZE.as('bytes')])
    .where('seq', 'in', seqs),
);
