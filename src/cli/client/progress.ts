import type { BatchBody } from '../../features/batches/dto/batch-body.js';

/** Shows a person how a batch goes on. */
export interface Progress {
  show(batch: BatchBody): void;
  /** One line that stays. */
  say(line: string): void;
  /** What was seen so far says nothing of the time that is left. */
  forgetThroughput(): void;
  /** Leaves the last state standing. */
  end(): void;
}
