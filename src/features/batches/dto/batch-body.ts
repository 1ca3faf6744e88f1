import { ApiProperty } from '@nestjs/swagger';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { RUN_BODY_EXAMPLE, RUN_STATUSES, RunBody } from '../../../http/dto/run-body.js';

/** The run of one item. */
export class BatchItemBody extends RunBody {
  @ApiProperty({ type: 'integer', description: 'Place of the item in the input, from 0' })
  index!: number;
}

export class BatchBody {
  @ApiProperty()
  batch_id!: string;

  @ApiProperty({ enum: RUN_STATUSES, description: '`completed`: every item has ended, whatever its outcome; `failed`: every item failed' })
  status!: (typeof RUN_STATUSES)[number];

  @ApiProperty({ type: 'integer' })
  total_items!: number;

  @ApiProperty({ type: 'integer', description: 'Items that completed or failed' })
  completed_items!: number;

  @ApiProperty({ type: 'integer' })
  failed_items!: number;

  @ApiProperty({ description: '0 to 100' })
  progress_percentage!: number;

  @ApiProperty({ type: [BatchItemBody], description: 'One for each item that completed or failed, in the order of the input' })
  results!: BatchItemBody[];

  @ApiProperty({ type: String, format: 'date-time', required: false })
  started_at?: string;

  @ApiProperty({ type: String, format: 'date-time', required: false })
  completed_at?: string;

  @ApiProperty({ type: String, required: false })
  error?: string;

  @ApiProperty({ type: [String], required: false, description: 'Where its rows wait for an agent that no process has: that agent' })
  waiting_for_agents?: string[];

  @ApiProperty({ type: UsageBody, required: false, description: 'What the runs that have ended used of models, where they did' })
  usage?: UsageBody;
}

export const STARTING_EXAMPLE: BatchBody = {
  batch_id: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f',
  status: 'starting',
  total_items: 2,
  completed_items: 0,
  failed_items: 0,
  progress_percentage: 0,
  results: [],
};

export const PROGRESS_EXAMPLE: Omit<BatchBody, 'results'> = {
  batch_id: STARTING_EXAMPLE.batch_id,
  status: 'running',
  total_items: 2,
  completed_items: 1,
  failed_items: 0,
  progress_percentage: 50,
  started_at: RUN_BODY_EXAMPLE.started_at!,
};

export const BATCH_EXAMPLE: BatchBody = { ...PROGRESS_EXAMPLE, results: [{ index: 0, ...RUN_BODY_EXAMPLE }] };
