import { QueryChoice, QueryInteger } from '../../../http/validation/query.js';

const STATUSES = ['completed', 'failed'] as const;

/** Which results the answer shows. */
export class BatchResultsQuery {
  @QueryInteger({ description: 'Results to show', min: 0, max: 10_000, default: 1_000, example: 100 })
  results_limit!: number;

  @QueryInteger({ description: 'Results to leave out before them', min: 0, default: 0, example: 0 })
  results_offset!: number;

  @QueryChoice({ description: 'Results with this status alone', choices: STATUSES, example: 'failed' })
  results_status?: (typeof STATUSES)[number];
}
