import { PageQuery } from '../../../http/dto/page-query.js';
import { RUN_STATUSES } from '../../../http/dto/run-body.js';
import { QueryChoice } from '../../../http/validation/query.js';

export class BatchListQuery extends PageQuery {
  @QueryChoice({ description: 'Keeps only batches with this status', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];
}
