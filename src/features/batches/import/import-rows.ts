import { DomainError } from '../../../common/domain-error.js';
import type { JsonObject } from '../../../common/json.js';

/** A batch before its rows are read. */
export interface BatchDraft {
  id: string;
  agent: string;
  maxWorkers: number;
  staticInputs: JsonObject;
  /** Maps columns or keys to input names and drops the others; null keeps everything. */
  inputMapping: Record<string, string> | null;
  /** Column or key; rows with equal values run once. */
  rowKey: string | null;
}

/** A row for storage: the inputs of its run, or the problem that prevents the run. */
export interface ImportRow {
  /** JSON of the run's inputs. */
  inputs: string;
  problem: string | null;
  /** The value of the batch's row key; null if the batch has none. */
  key: string | null;
}

// On SQLite a transaction blocks every other writer, so a part has few rows and few bytes.
const MOST_ROWS = 250;
const MOST_CHARACTERS = 256 * 1_024;

/** Turns items into rows lazily, in parts. Each part is for one transaction. */
export function* inParts<Item>(items: Iterable<Item>, toRow: (item: Item) => ImportRow): Generator<ImportRow[]> {
  let part: ImportRow[] = [];
  let characters = 0;
  for (const item of items) {
    const row = toRow(item);
    part.push(row);
    characters += row.inputs.length;
    if (part.length < MOST_ROWS && characters < MOST_CHARACTERS) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}

const MIB = 1_024 * 1_024;
const ALWAYS_BYTES = 64 * MIB;

/** The source of a batch's rows. */
export interface SentRows {
  /** Name of the field in messages. */
  field: string;
  bytes: number;
  /** The rows may store this multiple of `bytes`, in addition to the base that every batch may store. */
  factor: number;
}

/** A compressed list needs few bytes for many items. */
export const LIST_FACTOR = 8;
/** A wide CSV with many empty cells legitimately stores its column names many times. */
export const CSV_FACTOR = 32;

/**
 * Counts the bytes that the runs of a batch will store. Each run stores its input names and `static_inputs` again, so
 * without a bound a small request could fill the disk.
 */
export class StoredBytes {
  total = 0;
  private readonly most: number;
  private readonly staticBytes: number;

  constructor(
    private readonly sent: SentRows,
    { staticInputs }: BatchDraft,
  ) {
    this.most = ALWAYS_BYTES + sent.factor * sent.bytes;
    this.staticBytes = staticBytes(staticInputs);
  }

  /** Returns the bytes of these rows. Throws DomainError `invalid` if all rows together store too much. */
  add(rows: readonly ImportRow[]): number {
    const bytes = rows.reduce((sum, row) => sum + rowBytes(row) + this.staticBytes, 0);
    this.total += bytes;
    if (this.total <= this.most) return bytes;
    throw new DomainError(
      'invalid',
      `${this.sent.field}: the rows, with static_inputs and input names, would store more than ${Math.floor(this.most / MIB)} MiB; make these smaller, or send several batches`,
    );
  }
}

const rowBytes = ({ inputs, problem }: ImportRow): number =>
  Buffer.byteLength(inputs) + (problem === null ? 0 : Buffer.byteLength(problem));

export const staticBytes = (staticInputs: BatchDraft['staticInputs']): number =>
  Buffer.byteLength(JSON.stringify(staticInputs));
