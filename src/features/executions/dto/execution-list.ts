import { EXECUTION_REASONS, type ExecutionReason } from '../../../blackboard/waits/waiting-work.js';
import { PageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryBoolean, QueryChoice, QueryInteger, QueryReplays, QueryText } from '../../../http/validation/query.js';
import { EXECUTION_STATES, FAILURE_GROUP, LISTED_EXECUTION_EXAMPLE, ListedExecutionBody } from './execution-body.js';

export class ExecutionListQuery {
  @QueryChoice({ description: 'Keeps only executions in this state', choices: EXECUTION_STATES, example: 'failed' })
  state?: (typeof EXECUTION_STATES)[number];

  @QueryText({ description: 'Keeps only executions of this agent', example: 'classifier' })
  agent?: string;

  @QueryText({ description: 'Keeps only executions of this correlation', example: 'order-4711' })
  correlation_id?: string;

  @QueryText({ description: 'Keeps only executions with this assignee', example: 'anna' })
  assignee?: string;

  @QueryText({ description: 'Keeps only failed executions of this group', example: FAILURE_GROUP })
  failure_group?: string;

  @QueryBoolean({
    description: 'Keeps only executions that wait because no process has their agent',
    default: false,
    example: true,
  })
  without_agent!: boolean;

  @QueryChoice({
    description:
      'Keeps only executions that have not started and wait for a free slot, a claim, the time of their next attempt, ' +
      'room in a limit (or a turn by `singleton`, or a `breaker`), or the end of the pause of their agent; without those whose agent, or whose configuration of a replay, no process has',
    choices: EXECUTION_REASONS,
    example: 'retry',
  })
  waits_for?: ExecutionReason;

  @QueryBoolean({
    description: 'Keeps only executions of external agents that wait for a claim or are claimed',
    default: false,
    example: true,
  })
  external!: boolean;

  @QueryReplays('executions')
  replay!: boolean;

  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of matching items to skip', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

export class ExecutionListBody {
  @ApiProperty({ type: [ListedExecutionBody] })
  items!: ListedExecutionBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const EXECUTION_LIST_EXAMPLE: ExecutionListBody = {
  items: [LISTED_EXECUTION_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};
