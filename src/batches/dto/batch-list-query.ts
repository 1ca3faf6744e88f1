import { QueryChoice, QueryInteger, QueryText, QueryTimestamp } from '../../http/query.js';
import { RUN_STATUSES } from '../../http/dto/run-body.js';

/** The query of the list of batches. */
export class BatchListQuery {
  @QueryChoice({ description: 'Batches with this status', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];

  @QueryText({ description: 'Batches of this agent', example: 'classifier' })
  agent?: string;

  @QueryTimestamp({ description: 'Created at this time or later: ISO 8601, UTC where no time zone is given', example: '2026-11-20T00:00:00Z' })
  from?: number;

  @QueryTimestamp({ description: 'Created at this time or earlier: ISO 8601, UTC where no time zone is given', example: '2026-11-21T00:00:00Z' })
  to?: number;

  @QueryInteger({ description: 'Batches on a page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Batches to leave out before the page', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}
