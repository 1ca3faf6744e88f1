import type { ChangelogRow } from '../../blackboard/queries/changelog-rows.js';
import type { Visibility } from '../../catalog/visibility.js';
import { toTimestamp } from '../../common/timestamp.js';

/** An entry of the changelog, as clients get it. */
export interface PublishedEntry {
  seq: number;
  event_type: 'artifact_published';
  artifact_id: string;
  artifact_type: string;
  produced_by: string;
  correlation_id: string;
  visibility: Visibility;
  timestamp: string;
  /** True if its correlation is a replay; otherwise absent. */
  replay?: boolean;
}

/** Reports that artifacts after `seq`, up to `to_seq`, were deleted. Some of them may match the reader's filter. */
export interface GapEntry {
  seq: number;
  event_type: 'gap';
  to_seq: number;
}

/**
 * Returns a PublishedEntry as JSON. The stored visibility is copied, because one with a thousand agents is slow to
 * parse.
 */
export const entryText = ({
  seq,
  id,
  type,
  produced_by,
  correlation_id,
  visibility,
  created_at,
  replay,
}: ChangelogRow): string =>
  `{"seq":${seq},"event_type":"artifact_published","artifact_id":"${id}","artifact_type":${JSON.stringify(type)},"produced_by":${JSON.stringify(produced_by)},` +
  `"correlation_id":${JSON.stringify(correlation_id)},"visibility":${visibility},"timestamp":"${toTimestamp(created_at)}"${replay === 1 ? ',"replay":true' : ''}}`;

/** An entry with its JSON, which all readers share. */
export interface SerialisedEntry {
  row: ChangelogRow;
  json: string;
}

/** Size of one batch. Most entries have a few hundred bytes, but a visibility may name a thousand agents. */
const BATCH_CHARACTERS = 64 * 1_024;

/** Serialises rows in batches, so that the backlog of a reader can be checked between them. */
export function* inBatches(rows: readonly ChangelogRow[]): Generator<EntryBatch> {
  let entries: SerialisedEntry[] = [];
  let characters = 0;
  for (const row of rows) {
    const json = entryText(row);
    if (entries.length > 0 && characters + json.length > BATCH_CHARACTERS) {
      yield new EntryBatch(entries);
      [entries, characters] = [[], 0];
    }
    entries.push({ row, json });
    characters += json.length;
  }
  if (entries.length > 0) yield new EntryBatch(entries);
}

/** Consecutive entries. Readers of the same entries share the serialised text. */
export class EntryBatch {
  private asEvents: Buffer | undefined;

  constructor(readonly entries: readonly SerialisedEntry[]) {}

  get lastSeq(): number {
    return this.entries.at(-1)!.row.seq;
  }

  /** The entries as server-sent events. */
  get events(): Buffer {
    this.asEvents ??= Buffer.from(this.entries.map(({ row, json }) => `id: ${row.seq}\ndata: ${json}\n\n`).join(''));
    return this.asEvents;
  }

  /** Returns the matching entries; the same object if all match. */
  those(wanted: (row: ChangelogRow) => boolean): EntryBatch {
    const chosen = this.entries.filter(({ row }) => wanted(row));
    return chosen.length === this.entries.length ? this : new EntryBatch(chosen);
  }
}
