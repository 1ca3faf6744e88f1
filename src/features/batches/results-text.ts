import { stringify } from 'csv-stringify/sync';

import { inCell, type Piece } from '../../blackboard/queries/stored-pieces.js';
import { type FoundRun, runBody, runPieces } from '../runs/run.js';
import { RunResult } from '../runs/run-results.js';

/** The run of an item, with the item's index in the input, and that of the item whose run it is. */
export type ItemRow = FoundRun & { position: number; owner: number };

export interface ItemResult {
  run: ItemRow;
  /** Undefined unless the run has completed. */
  result: RunResult | undefined;
  /** JSON of the item's inputs, if they are shown. */
  inputs?: string;
}

interface Format {
  contentType: string;
  head(hasInputs: boolean): string;
  piecesOf(item: ItemResult): Piece[];
}

const CSV_COLUMNS = ['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at'];

/** Returns the JSON of an item: that of its run with the item's index, and its inputs at the end. */
export function itemPieces({ run, result, inputs }: ItemResult): Piece[] {
  const pieces = runPieces(run, result, run.position);
  if (inputs === undefined) return pieces;
  // The last piece is the end of an object.
  const end = (pieces.pop() as string).slice(0, -1);
  return [...pieces, `${end},"inputs":${inputs}}`];
}

/** Returns cells of a line. A cell that a spreadsheet would read as a formula gets a leading apostrophe. */
const csv = (cells: readonly unknown[]): string =>
  stringify([cells], { escape_formulas: true, record_delimiter: 'windows' });

/** Returns the CSV line of an item (RFC 4180). `result` and `inputs` are JSON. */
function csvPieces({ run, result, inputs }: ItemResult): Piece[] {
  const { run_id, status, error, started_at, completed_at } = runBody(run);
  const begin = csv([run.position, run_id, status]).trimEnd();
  return [
    `${begin},`,
    ...(run.status === 'completed' ? resultCell(result ?? new RunResult()) : []),
    `,${csv([error, started_at, completed_at, ...(inputs === undefined ? [] : [inputs])])}`,
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
    head: () => '',
    // One JSON document per line.
    piecesOf: (item) => [...itemPieces(item), '\n'],
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: (hasInputs) => csv(hasInputs ? [...CSV_COLUMNS, 'inputs'] : CSV_COLUMNS),
    piecesOf: csvPieces,
  },
};
