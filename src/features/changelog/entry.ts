import type { ChangelogRow } from '../../blackboard/queries/changelog-rows.js';
import type { Visibility } from '../../catalog/visibility.js';
import { toTimestamp } from '../../common/timestamp.js';

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

/** A PublishedEntry in JSON. Its visibility goes out as it is stored: one that names a thousand agents takes long to parse. */
export const entryText = ({ seq, id, type, produced_by, correlation_id, visibility, created_at }: ChangelogRow): string =>
  `{"seq":${seq},"event_type":"artifact_published","artifact_id":"${id}","artifact_type":${JSON.stringify(type)},"produced_by":${JSON.stringify(produced_by)},` +
  `"correlation_id":${JSON.stringify(correlation_id)},"visibility":${visibility},"timestamp":"${toTimestamp(created_at)}"}`;

/** An entry as it goes out, to however many. */
export interface SerialisedEntry {
  row: ChangelogRow;
  json: string;
}

/** Of one batch: most entries have a few hundred bytes, but their visibility may name a thousand agents. */
const BATCH_CHARACTERS = 64 * 1_024;

/** Serialised in parts, so that what waits for a reader can be looked at between them. */
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
