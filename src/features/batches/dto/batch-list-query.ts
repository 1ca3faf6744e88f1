import { PageQuery } from '../../../http/dto/page-query.js';
import { RUN_STATUSES } from '../../../http/dto/run-body.js';
import { QueryChoice } from '../../../http/validation/query.js';

/** The query of the list of batches. */
export class BatchListQuery extends PageQuery {
  @QueryChoice({ description: 'Batches with this status alone', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];
}
