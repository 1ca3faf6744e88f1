import { stringify } from 'csv-stringify/sync';
import type { BatchItemBody } from './dto/batch-body.js';

const CSV_COLUMNS = ['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at'] as const;

/** One JSON document a line. */
export const asNdjson = (items: AsyncIterable<BatchItemBody>): AsyncGenerator<string> => inPieces(items, (item) => `${JSON.stringify(item)}\n`);

/** RFC 4180 with a head; `result` is JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export async function* asCsv(items: AsyncIterable<BatchItemBody>): AsyncGenerator<string> {
  yield stringify([CSV_COLUMNS], CSV_OPTIONS);
  yield* inPieces(items, (item) => stringify([cellsOf(item)], CSV_OPTIONS));
}

/** Of about a socket's buffer: a write for each small line would take longer than making it. */
const PIECE = 65_536;

async function* inPieces(items: AsyncIterable<BatchItemBody>, toLine: (item: BatchItemBody) => string): AsyncGenerator<string> {
  let piece = '';
  for await (const item of items) {
    piece += toLine(item);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

const CSV_OPTIONS = { escape_formulas: true, record_delimiter: 'windows' } as const;

const cellsOf = (item: BatchItemBody): string[] =>
  CSV_COLUMNS.map((column) => {
    const value = item[column];
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
