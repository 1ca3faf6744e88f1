/** A row for storage: the inputs of its run, or the problem that prevents the run. */
export interface ImportRow {
  /** JSON of the run's inputs. */
  inputs: string;
  problem: string | null;
  /** The value of the batch's row key; null where the batch has none. */
  key: string | null;
}

// On SQLite a transaction blocks every other writer, so that a part has few rows and few bytes.
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
