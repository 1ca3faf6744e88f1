import type { FileHandle } from 'node:fs/promises';

/** The CSV file of a batch. */
export interface CsvSource {
  /** Name of the field in messages. */
  field: string;
  file: FileHandle;
  /**
   * Whether messages may quote the content. A client that uploads a file knows it already. A client that names a file
   * on the server gets only positions and counts, so that messages do not leak its content.
   */
  quotable: boolean;
}
