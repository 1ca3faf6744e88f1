import type { BatchBody } from '../../features/batches/dto/batch-body.js';

/** Shows the progress of a batch to the user. */
export interface Progress {
  show(batch: BatchBody): void;
  /** Prints a line that stays. */
  say(line: string): void;
  /** Discards the measured speed, because it no longer predicts the remaining time. */
  forgetThroughput(): void;
  /** Stops updating and keeps the last state visible. */
  end(): void;
}
