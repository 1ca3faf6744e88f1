import { stringify } from 'csv-stringify/sync';

import { inCell, type Piece } from '../../blackboard/queries/stored-pieces.js';
import { type FoundRun, runBody, runPieces } from '../runs/run.js';
import { RunResult } from '../runs/run-results.js';

/** The run of an item, with the item's index in the input. */
export type ItemRow = FoundRun & { position: number };

export interface ItemResult {
  run: ItemRow;
  /** Undefined unless the run has completed. */
  result: RunResult | undefined;
}

interface Format {
  contentType: string;
  head: string;
  piecesOf(item: ItemResult): Piece[];
}

const CSV_COLUMNS = ['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at'];

/** Returns cells of a line. A cell that a spreadsheet would read as a formula gets a leading apostrophe. */
const csv = (cells: readonly unknown[]): string =>
  stringify([cells], { escape_formulas: true, record_delimiter: 'windows' });

/** Returns the CSV line of an item (RFC 4180). `result` is JSON. */
function csvPieces({ run, result }: ItemResult): Piece[] {
  const { run_id, status, error, started_at, completed_at } = runBody(run);
  const begin = csv([run.position, run_id, status]).trimEnd();
  return [
    `${begin},`,
    ...(run.status === 'completed' ? resultCell(result ?? new RunResult()) : []),
    `,${csv([error, started_at, completed_at])}`,
  ];
}

/** Quotes the cell, unless the result is `{}`. The JSON of every other object contains quotes. */
function resultCell(result: RunResult): Piece[] {
  const pieces = result.pieces();
  const [only, ...others] = pieces.flat();
  return others.length === 0 && only === '{}' ? pieces : ['"', ...inCell(pieces), '"'];
}

export type ResultsFormat = 'ndjson' | 'csv';

export const FORMATS: Record<ResultsFormat, Format> = {
  ndjson: {
    contentType: 'application/x-ndjson',
    head: '',
    // One JSON document per line.
    piecesOf: ({ run, result }) => [...runPieces(run, result, run.position), '\n'],
  },
  csv: { contentType: 'text/csv; charset=utf-8; header=present', head: csv(CSV_COLUMNS), piecesOf: csvPieces },
};
