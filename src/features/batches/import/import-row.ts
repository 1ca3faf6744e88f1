/** A row as it is stored: what a run of the batch starts with, or why it cannot. */
export interface ImportRow {
  /** JSON of the run's inputs. */
  inputs: string;
  problem: string | null;
  /** The value of the batch's row key; null where it has none. */
  key: string | null;
}

// A transaction holds up every other writer, so a part is small in rows and in bytes.
const MOST_ROWS = 250;
const MOST_CHARACTERS = 256 * 1_024;

/** Makes rows of items, in parts, each for one transaction; a part's rows are made when it is asked for. */
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
