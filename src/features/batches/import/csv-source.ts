import type { FileHandle } from 'node:fs/promises';

/** A CSV that a batch is made of. */
export interface CsvSource {
  /** What messages call it. */
  field: string;
  file: FileHandle;
  /**
   * Whether messages may quote what it holds. Whoever uploads a file has it already; whoever only names one on the server is told
   * positions and counts, so that messages give away nothing of it.
   */
  quotable: boolean;
}
