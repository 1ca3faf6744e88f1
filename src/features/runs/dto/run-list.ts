import { PageBody, PageQuery } from '../../../http/dto/page.js';
import { RUN_BODY_EXAMPLE, RUN_STATUSES } from '../../../http/dto/run-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryChoice } from '../../../http/validation/query.js';

export class RunListQuery extends PageQuery {
  @QueryChoice({ description: 'Keeps only runs with this status', choices: RUN_STATUSES, example: 'failed' })
  status?: (typeof RUN_STATUSES)[number];
}

/** A run in a list. Only the run itself shows its result. */
export class ListedRunBody {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ description: 'Name of the agent that started the workflow' })
  agent_name!: string;

  @ApiProperty({ enum: RUN_STATUSES })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({ type: String, required: false, description: 'Id of its batch; absent for other runs' })
  batch_id?: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  started_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  completed_at?: string;

  @ApiProperty({ type: String, required: false })
  error?: string;
}

export class RunListBody {
  @ApiProperty({ type: [ListedRunBody] })
  items!: ListedRunBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const RUN_LIST_EXAMPLE: RunListBody = {
  items: [
    {
      run_id: RUN_BODY_EXAMPLE.run_id,
      agent_name: 'classifier',
      status: 'completed',
      created_at: '2026-11-20T10:00:00.000Z',
      started_at: RUN_BODY_EXAMPLE.started_at!,
      completed_at: RUN_BODY_EXAMPLE.completed_at!,
    },
  ],
  pagination: { limit: 50, offset: 0, has_more: false },
};
