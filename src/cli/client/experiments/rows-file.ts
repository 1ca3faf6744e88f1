import { Readable } from 'node:stream';

import { stringify } from 'csv-stringify/sync';

import type { ExperimentBody } from '../../../features/experiments/dto/experiment-body.js';
import type { ExperimentRowBody, TrialBody } from '../../../features/experiments/dto/experiment-rows.js';
import { idIn } from '../look-up.js';
import { pagesOf } from '../paging.js';
import type { Server } from '../server.js';

/** The largest page of rows that the API gives. */
const LARGEST_PAGE = 100;

/** The rows of an experiment as the text of a file: CSV, with a line for each variant of a row, or NDJSON. */
export function rowsText(server: Server, experiment: ExperimentBody, isCsv: boolean): Readable {
  return Readable.from(isCsv ? csvLines(server, experiment) : jsonLines(server, experiment));
}

async function* jsonLines(server: Server, experiment: ExperimentBody): AsyncGenerator<string> {
  for await (const rows of pages(server, experiment)) for (const row of rows) yield `${JSON.stringify(row)}\n`;
}

async function* csvLines(server: Server, experiment: ExperimentBody): AsyncGenerator<string> {
  const scorers = experiment.definition.scorers.map(({ name }) => name);
  yield csv([...COLUMNS, ...scorers]);
  for await (const rows of pages(server, experiment))
    for (const row of rows)
      for (const trial of row.trials) yield csv([...cellsOf(row, trial), ...scoresOf(trial, scorers)]);
}

async function* pages(server: Server, { experiment_id }: ExperimentBody): AsyncGenerator<ExperimentRowBody[]> {
  const path = idIn('/api/v1/experiments/{id}/rows', experiment_id);
  const found = pagesOf<ExperimentRowBody>(server, path, new URLSearchParams(), Infinity, LARGEST_PAGE);
  for await (const { items } of found) yield items;
}

const COLUMNS = [
  'index',
  'variant',
  'state',
  'correlation_id',
  'input',
  'expected',
  'output',
  'error',
  'changed',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'cost',
];

const cellsOf = ({ index, input, expected, changed }: ExperimentRowBody, trial: TrialBody): unknown[] => [
  index,
  trial.variant,
  trial.state,
  trial.correlation_id,
  input,
  expected,
  trial.output,
  trial.error,
  String(changed),
  trial.duration_ms,
  trial.usage?.input_tokens,
  trial.usage?.output_tokens,
  trial.usage?.cost,
];

/** A scorer that has failed leaves its cell empty. NDJSON says why. */
const scoresOf = ({ scores }: TrialBody, scorers: readonly string[]): unknown[] =>
  scorers.map((name) => scores.find(({ scorer }) => scorer === name)?.score);

/** A cell that a spreadsheet would read as a formula gets a leading apostrophe. */
const csv = (cells: readonly unknown[]): string =>
  stringify([cells], { escape_formulas: true, record_delimiter: 'windows' });
