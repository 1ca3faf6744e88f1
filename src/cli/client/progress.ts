import type { BatchBody } from '../../batches/dto/batch-body.js';

/** Tells a person how a batch goes on. */
export interface Progress {
  show(batch: BatchBody): void;
  /** One line that stays. */
  say(line: string): void;
  /** Leaves the last state standing. */
  end(): void;
}
