import { MOST_EXECUTIONS } from '../../../blackboard/queries/variant-history.js';
import { ApiQuantiles, type QuantilesBody } from '../../../http/dto/quantiles-body.js';
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

/** The last executions of a variant. */
export class VariantHistoryBody {
  @ApiProperty({ description: "Name of the variant, or `base` for the agent's own options" })
  name!: string;

  @ApiProperty({ type: 'integer', maximum: MOST_EXECUTIONS, description: 'How many executions it counts' })
  executions!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that failed after their last attempt' })
  failures!: number;

  @ApiQuantiles('Durations of their last attempts, in milliseconds; null without executions')
  duration_ms!: QuantilesBody | null;

  @ApiProperty({ type: UsageBody, required: false, description: 'Their model usage. Absent if they used no model' })
  usage?: UsageBody;
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

  @ApiProperty({
    type: [VariantHistoryBody],
    required: false,
    description: `The last ${MOST_EXECUTIONS} ended executions of each variant, and of the agent's own options, without replays; filters do not apply. Absent if the agent has no variants`,
  })
  by_variant?: VariantHistoryBody[];
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
