import { DomainError } from '../../../common/domain-error.js';
import type { BatchDraft } from './batch-draft.js';
import type { ImportRow } from './import-row.js';

const MIB = 1_024 * 1_024;
const ALWAYS_BYTES = 64 * MIB;

/** What the rows of a batch come from. */
export interface SentRows {
  /** What messages call it. */
  field: string;
  bytes: number;
  /** How many times these bytes the rows may store, besides what every batch may. */
  factor: number;
}

/** A list may be compressed, so that few bytes are sent for many. */
export const LIST_FACTOR = 8;
/** A wide CSV with many empty cells honestly stores its column names many times. */
export const CSV_FACTOR = 32;

/**
 * Counts what the runs of a batch will store of its rows. Each stores the names of its inputs and `static_inputs` again, so that
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

  /** Returns the bytes of these rows. DomainError `invalid` where the rows together store too much. */
  add(rows: readonly ImportRow[]): number {
    const bytes = rows.reduce((sum, row) => sum + rowBytes(row) + this.staticBytes, 0);
    this.total += bytes;
    if (this.total <= this.most) return bytes;
    throw new DomainError(
      'invalid',
      `${this.sent.field}: the rows would store more than ${Math.floor(this.most / MIB)} MiB, with static_inputs and the names of inputs in each of them; make these smaller, or send several batches`,
    );
  }
}

const rowBytes = ({ inputs, problem }: ImportRow): number => Buffer.byteLength(inputs) + (problem === null ? 0 : Buffer.byteLength(problem));

export const staticBytes = (staticInputs: BatchDraft['staticInputs']): number => Buffer.byteLength(JSON.stringify(staticInputs));
