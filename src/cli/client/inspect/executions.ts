import type {
  ExecutionAttemptBody,
  ExecutionBody,
  ListedExecutionBody,
} from '../../../features/executions/dto/execution-body.js';
import type { ArtifactBody } from '../../../http/dto/artifact-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { findOrAdvise } from '../look-up.js';
import type { Field } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { between, toTheSecond } from '../printing/texts.js';
import { limitOf, printList, refuseFilters } from './list.js';
import { styleOfState } from './states.js';

export interface ExecutionFilters {
  state?: string;
  agent?: string;
  correlationId?: string;
  assignee?: string;
  failureGroup?: string;
  withoutAgent?: true;
  external?: true;
  replay?: true;
}

/** Prints the newest executions that match, or one with its attempts, its error and its artifacts. */
export async function showExecutions(
  id: string | undefined,
  { url, json, limit, ...filters }: ClientOptions & ExecutionFilters & { limit?: string },
): Promise<void> {
  const { server, output } = connectionOf({ url, json });
  if (id === undefined) {
    return printList<ListedExecutionBody>(server, output, {
      path: '/api/v1/executions',
      filters: { ...filters },
      limit: limitOf(limit),
      columns: COLUMNS,
      none: 'no execution matches',
    });
  }
  refuseFilters({ ...filters, limit });
  const execution = await findOrAdvise<ExecutionBody>(server, 'execution', id);
  await output.thing(execution, () => fieldsOf(execution));
}

const LONGEST_ERROR = 60;

const COLUMNS: Column<ListedExecutionBody>[] = [
  { title: 'EXECUTION', of: ({ id }) => id },
  { title: 'AGENT', of: ({ agent }) => agent, style: () => 'bold' },
  { title: 'STATE', of: stateOf, style: ({ state }) => styleOfState(state) },
  { title: 'CREATED', of: (execution) => toTheSecond(execution.created_at) },
  { title: 'TOOK', of: (execution) => between(execution.started_at, execution.ended_at), isRight: true },
  { title: 'ERROR', of: errorOf, most: LONGEST_ERROR, style: () => 'red' },
  { title: 'ASSIGNEE', of: ({ assignee }) => assignee },
  { title: 'CORRELATION', of: (execution) => execution.correlation_id },
];

function stateOf(execution: ListedExecutionBody): string {
  if (execution.without_agent) return 'no process';
  return execution.next_attempt_at === null ? execution.state : 'retrying';
}

function errorOf({
  error_type: type,
  error_message: message,
}: Pick<ListedExecutionBody, 'error_type' | 'error_message'>): string | null {
  return type === null ? null : `${type}: ${message}`;
}

/** The fields that people see of an execution. */
export const fieldsOf = (execution: ExecutionBody): Field[] => [
  ['execution', execution.id],
  ['agent', execution.agent],
  ['state', stateOf(execution)],
  ['correlation', execution.correlation_id],
  ['created', execution.created_at],
  ['started', execution.started_at],
  ['ended', execution.ended_at],
  ['took', between(execution.started_at, execution.ended_at)],
  ['next attempt', execution.next_attempt_at],
  ['definition', execution.definition],
  ['assignee', execution.assignee],
  ['claimed by', execution.claimed_by],
  ['due', execution.due_at],
  ['inputs', artifactsOf(execution.inputs)],
  ['outputs', artifactsOf([...execution.outputs, ...execution.errors])],
  ['attempts', execution.attempts.map(attemptOf).join('\n')],
  ['failures', execution.failure_group],
  ['error', errorOf(execution)],
  ['cause', execution.cause ?? null],
  ['stack', execution.stack ?? null],
];

const artifactsOf = (artifacts: ArtifactBody[]): string => artifacts.map(({ id, type }) => `${id}  ${type}`).join('\n');

function attemptOf({ round, attempt, started_at, ended_at, ...error }: ExecutionAttemptBody): string {
  const number = round === 0 ? `${attempt}` : `${attempt} of retry ${round}`;
  const took = between(started_at, ended_at);
  return [number, started_at, took, errorOf(error)].filter((part) => part !== null).join('  ');
}
