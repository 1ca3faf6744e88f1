import type { ChangelogRow } from '../blackboard/queries/changelog-rows.js';
import type { Visibility } from '../catalog/visibility.js';
import { toTimestamp } from '../common/timestamp.js';

/** An entry of the changelog on the wire. */
export interface PublishedEntry {
  seq: number;
  event_type: 'artifact_published';
  artifact_id: string;
  artifact_type: string;
  produced_by: string;
  correlation_id: string;
  visibility: Visibility;
  timestamp: string;
}

/** Says that artifacts behind `seq`, up to `to_seq`, were deleted, some of which the reader may have asked for. */
export interface GapEntry {
  seq: number;
  event_type: 'gap';
  to_seq: number;
}

export const publishedEntry = (row: ChangelogRow): PublishedEntry => ({
  seq: row.seq,
  event_type: 'artifact_published',
  artifact_id: row.id,
  artifact_type: row.type,
  produced_by: row.produced_by,
  correlation_id: row.correlation_id,
  visibility: JSON.parse(row.visibility) as Visibility,
  timestamp: toTimestamp(row.created_at),
});

/** An entry as it goes out, to however many. */
export interface SerialisedEntry {
  row: ChangelogRow;
  json: string;
}

export const serialised = (row: ChangelogRow): SerialisedEntry => ({ row, json: JSON.stringify(publishedEntry(row)) });

/** Some entries, one after another; what all readers of the same ones get is put together once. */
export class EntryBatch {
  private asEvents: Buffer | undefined;

  constructor(readonly entries: readonly SerialisedEntry[]) {}

  get lastSeq(): number {
    return this.entries.at(-1)!.row.seq;
  }

  /** As server-sent events. */
  get events(): Buffer {
    this.asEvents ??= Buffer.from(this.entries.map(({ row, json }) => `id: ${row.seq}\ndata: ${json}\n\n`).join(''));
    return this.asEvents;
  }

  /** The same object where all of them do. */
  those(wanted: (row: ChangelogRow) => boolean): EntryBatch {
    const chosen = this.entries.filter(({ row }) => wanted(row));
    return chosen.length === this.entries.length ? this : new EntryBatch(chosen);
  }
}
