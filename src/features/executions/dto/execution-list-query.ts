import { QueryBoolean, QueryChoice, QueryInteger, QueryText } from '../../../http/validation/query.js';
import { EXECUTION_STATES } from './execution-body.js';

/** The query of the list of executions. */
export class ExecutionListQuery {
  @QueryChoice({ description: 'Executions in this state alone', choices: EXECUTION_STATES, example: 'failed' })
  state?: (typeof EXECUTION_STATES)[number];

  @QueryText({ description: 'Of this agent alone', example: 'classifier' })
  agent?: string;

  @QueryText({ description: 'Of this correlation alone', example: 'order-4711' })
  correlation_id?: string;

  @QueryText({ description: 'Assigned to this one alone', example: 'anna' })
  assignee?: string;

  @QueryBoolean({ description: 'Those alone that wait for an agent that no process has', default: false, example: true })
  without_agent!: boolean;

  @QueryInteger({ description: 'Items on a page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Items to leave out before the page', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}
