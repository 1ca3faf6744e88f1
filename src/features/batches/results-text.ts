import { stringify } from 'csv-stringify/sync';
import { inCell, type Piece } from '../../blackboard/queries/stored-pieces.js';
import { type FoundRun, runBody, runPieces } from '../runs/run.js';
import { RunResult } from '../runs/run-results.js';

/** The run of an item, with the item's place in the input. */
export type ItemRow = FoundRun & { position: number };

export interface ItemResult {
  run: ItemRow;
  /** Undefined where the run has not completed. */
  result: RunResult | undefined;
}

interface Format {
  contentType: string;
  head: string;
  piecesOf(item: ItemResult): Piece[];
}

const CSV_COLUMNS = ['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at'];

/** Cells of a line, or some of it. One that a spreadsheet would take for a formula begins with an apostrophe. */
const csv = (cells: readonly unknown[]): string => stringify([cells], { escape_formulas: true, record_delimiter: 'windows' });

/** RFC 4180. `result` is JSON. */
function csvPieces({ run, result }: ItemResult): Piece[] {
  const { run_id, status, error, started_at, completed_at } = runBody(run);
  const begin = csv([run.position, run_id, status]).trimEnd();
  return [`${begin},`, ...(run.status === 'completed' ? resultCell(result ?? new RunResult()) : []), `,${csv([error, started_at, completed_at])}`];
}

/** All JSON of an object has quotes in it, but for that of an empty one. */
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
    // One JSON document a line.
    piecesOf: ({ run, result }) => [...runPieces(run, result, run.position), '\n'],
  },
  csv: { contentType: 'text/csv; charset=utf-8; header=present', head: csv(CSV_COLUMNS), piecesOf: csvPieces },
};
