import { PageQuery } from '../../../http/dto/page-query.js';
import { RUN_STATUSES } from '../../../http/dto/run-body.js';
import { QueryChoice } from '../../../http/validation/query.js';

/** The query of the list of runs. */
export class RunListQuery extends PageQuery {
  @QueryChoice({ description: 'Runs with this status alone', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];
}
