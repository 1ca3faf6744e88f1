import { ApiQuantiles, type QuantilesBody } from '../../../http/dto/quantiles-body.js';
import { UsageBody } from '../../../http/dto/usage-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import type { StepName, WindowName } from './activity-query.js';
import { STEPS, WINDOWS } from './activity-query.js';

export class ActivityCountsBody {
  @ApiProperty({ type: 'integer', description: 'Executions whose first attempt started' })
  starts!: number;

  @ApiProperty({ type: 'integer', description: 'Executions that completed or failed. Cancelled ones do not count' })
  ends!: number;

  @ApiProperty({ type: 'integer', description: 'Those of `ends` that failed' })
  failures!: number;

  @ApiProperty({
    type: 'integer',
    description: "Attempts that failed, where the agent's `retry` allowed another one",
  })
  retries!: number;

  @ApiQuantiles(
    'Milliseconds from the start of the last attempt to the end of the execution, for `ends`. Each differs from ' +
      'the exact value by less than 10 %. Null if there are none',
  )
  duration_ms!: QuantilesBody | null;

  @ApiQuantiles('Milliseconds from the creation of the execution to its first attempt, for `starts`; likewise')
  queue_ms!: QuantilesBody | null;
}

export class ActivityStepBody extends ActivityCountsBody {
  @ApiProperty({ format: 'date-time', description: 'When the step begins: a multiple of its length, in UTC' })
  start!: string;
}

export class ActivitySeriesBody extends ActivityCountsBody {
  @ApiProperty({
    type: UsageBody,
    required: false,
    description: 'Model usage since the beginning of the hour (UTC) of `from`. Absent if there was none',
  })
  usage?: UsageBody;

  @ApiProperty({ type: [ActivityStepBody], description: 'Every step, in order; the last one has not ended' })
  steps!: ActivityStepBody[];
}

export class AgentActivityBody extends ActivitySeriesBody {
  @ApiProperty()
  agent!: string;
}

export class ActivityBody {
  @ApiProperty({ enum: Object.keys(WINDOWS) })
  window!: WindowName;

  @ApiProperty({ enum: Object.keys(STEPS) })
  step!: StepName;

  @ApiProperty({
    format: 'date-time',
    description: 'Since when Starling has counted. There are no steps that end before it',
  })
  since!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When the first step begins: the one with the beginning of the window, or with `since`',
  })
  from!: string;

  @ApiProperty({ format: 'date-time', description: 'When the service counted' })
  to!: string;

  @ApiProperty({ type: ActivitySeriesBody, description: 'All of `agents` together' })
  total!: ActivitySeriesBody;

  @ApiProperty({ type: [AgentActivityBody], description: 'Agents with any of this since `from`, by name' })
  agents!: AgentActivityBody[];
}

const COUNTS: ActivityCountsBody = {
  starts: 2,
  ends: 2,
  failures: 0,
  retries: 1,
  duration_ms: { p50: 12, p95: 35.4, p99: 35.4 },
  queue_ms: { p50: 3, p95: 4, p99: 4 },
};

const SERIES: ActivitySeriesBody = {
  ...COUNTS,
  steps: [
    { start: '2026-11-20T09:00:00.000Z', ...COUNTS },
    {
      start: '2026-11-20T10:00:00.000Z',
      starts: 0,
      ends: 0,
      failures: 0,
      retries: 0,
      duration_ms: null,
      queue_ms: null,
    },
  ],
};

export const ACTIVITY_EXAMPLE: ActivityBody = {
  window: '24h',
  step: '1h',
  since: '2026-11-20T09:12:31.402Z',
  from: '2026-11-20T09:00:00.000Z',
  to: '2026-11-20T10:15:40.000Z',
  total: SERIES,
  agents: [{ agent: 'classifier', ...SERIES }],
};
