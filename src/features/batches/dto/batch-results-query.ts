import { QueryChoice, QueryInteger } from '../../../http/validation/query.js';

const STATUSES = ['completed', 'failed'] as const;

/** Selects the results that the answer shows. */
export class BatchResultsQuery {
  @QueryInteger({ description: 'Maximum number of results', min: 0, max: 10_000, default: 1_000, example: 100 })
  results_limit!: number;

  @QueryInteger({ description: 'Number of results to skip', min: 0, default: 0, example: 0 })
  results_offset!: number;

  @QueryChoice({ description: 'Keeps only results with this status', choices: STATUSES, example: 'failed' })
  results_status?: (typeof STATUSES)[number];
}
