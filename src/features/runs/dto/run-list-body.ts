import { ApiProperty } from '@nestjs/swagger';
import { PageBody } from '../../../http/dto/page-body.js';
import { RUN_BODY_EXAMPLE, RUN_STATUSES } from '../../../http/dto/run-body.js';

/** A run in a list; its result is with the run itself. */
export class ListedRunBody {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ description: 'The agent that it began with' })
  agent_name!: string;

  @ApiProperty({ enum: RUN_STATUSES })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({ type: String, required: false, description: 'The batch that it belongs to' })
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
