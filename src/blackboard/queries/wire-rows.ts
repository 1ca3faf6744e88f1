import { type RawBuilder, sql } from 'kysely';
import { memoize, preparedWithList } from '../../database/prepared.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { ArtifactRow } from '../artifacts/artifact.js';

const COLUMNS = ['seq', 'id', 'type', 'version', 'produced_by', 'visibility_kind', 'partition_key', 'correlation_id', 'created_at'] as const;

/**
 * An artifact for an answer. `texts` is what it has in JSON already, as a part of its text on the wire: its payload goes out as it is
 * stored, since parsing it and writing it again takes longer than reading it, and many times its size in memory.
 */
export type WireRow = Pick<ArtifactRow, (typeof COLUMNS)[number]> & {
  /** Null where it is larger than was asked for. */
  texts: string | null;
};

export type WholeRow = WireRow & { texts: string };

/** Of an artifact's texts, in bytes of UTF-8. */
export const SIZE = sql<number>`octet_length(artifacts.payload) + octet_length(artifacts.tags) + octet_length(artifacts.visibility)`;

const TEXTS = sql<string>`artifacts.payload || ',"tags":' || artifacts.tags || ',"visibility":' || artifacts.visibility`;

/** What a WireRow is selected by from `artifacts`, with texts of up to `most` bytes: a page of large ones would fill the memory. */
export const wireColumns = (most: RawBuilder<number>) => [
  ...COLUMNS.map((column) => sql.ref(`artifacts.${column}`).as(column)),
  sql<string | null>`case when ${SIZE} <= ${most} then ${TEXTS} end`.as('texts'),
];

export const isWhole = (row: WireRow): row is WholeRow => row.texts !== null;

/** As it stands on the wire (docs/api.md, "Query artifacts"). `more`: further fields. */
export const artifactText = (row: WholeRow, more = ''): string =>
  `{"id":"${row.id}${beforePayload(row.type)}${row.texts}${afterVisibility(row.produced_by)}${toTimestamp(row.created_at)}",` +
  `"correlation_id":${JSON.stringify(row.correlation_id)},"partition_key":${JSON.stringify(row.partition_key)},"version":${row.version},"visibility_kind":"${row.visibility_kind}"${more}}`;

// Types and producers are few: a text that is put together of a few long pieces is made faster than one of many short ones.
const beforePayload = memoize((type: string): string => `","type":${JSON.stringify(type)},"payload":`);
const afterVisibility = memoize((producer: string): string => `,"produced_by":${JSON.stringify(producer)},"created_at":"`);

export const findWhole = preparedWithList<object, number, WholeRow>((db, _place, seqs) =>
  db
    .selectFrom('artifacts')
    .select(COLUMNS)
    .select(TEXTS.as('texts'))
    .where('seq', 'in', seqs),
);

export const findPayloads = preparedWithList<object, number, { seq: number; payload: string }>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(['seq', 'payload']).where('seq', 'in', seqs),
);

/** Bytes of each one's texts. */
export const findSizes = preparedWithList<object, number, { seq: number; bytes: number }>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(['seq', SIZE.as('bytes')]).where('seq', 'in', seqs),
);
