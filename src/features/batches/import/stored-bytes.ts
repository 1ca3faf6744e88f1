import { DomainError } from '../../../common/domain-error.js';
import type { BatchDraft } from './batch-draft.js';
import type { ImportRow } from './import-row.js';

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
 * that without a bound a small request could fill the disk.
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

  /** Returns the bytes of these rows. Throws DomainError `invalid` where all rows together store too much. */
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
