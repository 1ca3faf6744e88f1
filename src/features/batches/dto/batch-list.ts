import { PageBody, PageQuery } from '../../../http/dto/page.js';
import { RUN_STATUSES } from '../../../http/dto/run-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryChoice } from '../../../http/validation/query.js';
import { BatchProgressBody, PROGRESS_EXAMPLE } from './batch-body.js';

export class BatchListQuery extends PageQuery {
  @QueryChoice({ description: 'Keeps only batches with this status', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];
}

/** A batch in a list. Only the batch itself shows its results. */
export class ListedBatchBody extends BatchProgressBody {
  @ApiProperty()
  agent_name!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

export class BatchListBody {
  @ApiProperty({ type: [ListedBatchBody] })
  items!: ListedBatchBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const BATCH_LIST_EXAMPLE: BatchListBody = {
  items: [{ ...PROGRESS_EXAMPLE, agent_name: 'classifier', created_at: '2026-11-20T10:00:00.000Z' }],
  pagination: { limit: 50, offset: 0, has_more: false },
};
