import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import { parse } from 'csv-parse';

export interface LabelledMessage {
  text: string;
  /** The intent that a person gave it. */
  category: string;
}

/** The rows of a CSV file with the columns `text` and `category`. Rejects if the file cannot be read or is not a CSV. */
export const readLabelledMessages = (file: URL): Promise<LabelledMessage[]> =>
  pipeline(createReadStream(file), parse({ columns: true, bom: true }), (rows: AsyncIterable<LabelledMessage>) =>
    Array.fromAsync(rows),
  );
