import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';

export class HourBody {
  @ApiProperty({ type: 'integer' })
  executions!: number;

  @ApiProperty({ type: 'integer', description: 'Executions that failed after their last attempt' })
  failures!: number;

  @ApiProperty({ type: 'integer' })
  artifacts_consumed!: number;

  @ApiProperty({ type: 'integer' })
  artifacts_produced!: number;
}

export class HistoryContent {
  @ApiProperty({ type: 'integer', description: 'Executions that have ended' })
  total_executions!: number;

  @ApiProperty({ type: 'integer' })
  total_artifacts_consumed!: number;

  @ApiProperty({ type: 'integer' })
  total_artifacts_produced!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: schemaPath(HourBody) },
    description:
      'Counts of the executions that ended in each UTC hour, keyed by its start, such as `2026-11-20T10:00:00Z`',
  })
  execution_timeline!: Record<string, HourBody>;

  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage of the agent since the beginning; filters do not apply. Absent if it used no model',
  })
  usage?: UsageBody;
}

export class HistoryBody {
  @ApiProperty()
  agent_id!: string;

  @ApiProperty()
  summary!: HistoryContent;
}

export const HISTORY_EXAMPLE: HistoryBody = {
  agent_id: 'classifier',
  summary: {
    total_executions: 3,
    total_artifacts_consumed: 3,
    total_artifacts_produced: 2,
    execution_timeline: {
      '2026-11-20T10:00:00Z': { executions: 3, failures: 1, artifacts_consumed: 3, artifacts_produced: 2 },
    },
  },
};
