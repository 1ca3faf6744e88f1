import { stringify } from 'csv-stringify/sync';
import type { BatchItemBody } from './dto/batch-body.js';

const CSV_COLUMNS = ['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at'] as const;

/** One JSON document a line. */
export async function* asNdjson(parts: AsyncIterable<BatchItemBody[]>): AsyncGenerator<string> {
  for await (const items of parts) yield items.map((item) => `${JSON.stringify(item)}\n`).join('');
}

/** RFC 4180 with a head; `result` is JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export async function* asCsv(parts: AsyncIterable<BatchItemBody[]>): AsyncGenerator<string> {
  yield stringify([CSV_COLUMNS], CSV_OPTIONS);
  for await (const items of parts) yield stringify(items.map(cellsOf), CSV_OPTIONS);
}

const CSV_OPTIONS = { escape_formulas: true, record_delimiter: 'windows' } as const;

const cellsOf = (item: BatchItemBody): string[] =>
  CSV_COLUMNS.map((column) => {
    const value = item[column];
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
