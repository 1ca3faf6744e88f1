import type { Selectable } from 'kysely';

import { replayedAs } from '../../blackboard/correlations/replay-values.js';
import { heldUntil } from '../../blackboard/explain/held-until.js';
import { shownDetails } from '../../blackboard/queries/shown-details.js';
import type { Item, Piece } from '../../blackboard/queries/stored-pieces.js';
import type { Catalog } from '../../catalog/catalog.js';
import { type JsonObject, lastFields } from '../../common/json.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Settings } from '../../config/settings.js';
import type { ExecutionAttemptsTable, ToolCallsTable, UsageTable } from '../../database/schema.js';
import { isExternal } from '../../engines/external/external-work.js';
import { timeOfRetry } from '../../queue/queue.js';
import type { ExecutionAttemptBody, ListedExecutionBody, ModelUseBody, ToolCallBody } from './dto/execution-body.js';
import type { ExecutionRow } from './executions.repository.js';

/** `lacking` lists the agents that no process has. */
export const listedExecutionBody = (
  row: ExecutionRow,
  lacking: readonly string[],
  settings: Settings,
): ListedExecutionBody => ({
  id: row.id,
  agent: row.agent,
  correlation_id: row.correlation_id,
  state: row.state,
  ...(row.state === 'pending' && lacking.includes(row.agent) && { without_agent: true }),
  direct: row.direct === 1,
  ...replayedAs(row),
  attempt: row.attempt,
  round: row.round,
  created_at: toTimestamp(row.created_at),
  started_at: timestampOf(row.started_at),
  ended_at: timestampOf(row.ended_at),
  next_attempt_at: timestampOf(timeOfRetry(row)),
  error_type: row.error_type,
  error_message: row.error_message,
  ...shownDetails(settings, row),
  ...(row.cancelled_by !== null && { cancelled_by: row.cancelled_by }),
  ...(row.cached_from !== null && { cached_from: row.cached_from }),
  ...(row.skipped_for !== null && { skipped_for: row.skipped_for }),
  ...(row.superseded_by !== null && { superseded_by: row.superseded_by }),
  failure_group: row.failure_group,
  definition: row.definition,
  ...(row.variant !== null && { variant: row.variant }),
  assignee: row.assignee,
  claimed_by: row.claimed_by,
  lease_until: timestampOf(heldUntil(row)),
  due_at: timestampOf(row.due_at),
  escalated_at: timestampOf(row.escalated_at),
});

/** The parts of an ExecutionBody besides the execution's row. */
interface ExecutionParts {
  inputs: Item[];
  outputs: Item[];
  errors: Item[];
  attempts: Selectable<ExecutionAttemptsTable>[];
  modelUses: Selectable<UsageTable>[];
  toolCalls: Selectable<ToolCallsTable>[];
  /** Null if the agent is not external. */
  form: JsonObject | null;
  /** Agents that no process has. */
  lacking: readonly string[];
  settings: Settings;
}

/** Returns the pieces of an ExecutionBody as JSON. */
export function executionPieces(
  row: ExecutionRow,
  { inputs, outputs, errors, attempts, modelUses, toolCalls, form, lacking, settings }: ExecutionParts,
): Piece[] {
  const begin = JSON.stringify({ ...listedExecutionBody(row, lacking, settings), lost_leases: row.lost_leases }).slice(
    0,
    -1,
  );
  const end = lastFields({
    attempts: [...attempts, ...lastAttempt(row)].map((attempt) => attemptBody(attempt, settings)),
    ...(form && { form }),
    ...(modelUses.length > 0 && { model_uses: modelUses.map(modelUseBody) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toolCallBody) }),
  });
  return [`${begin},"inputs":[`, inputs, '],"outputs":[', outputs, '],"errors":[', errors, `]${end}`];
}

type Attempt = Pick<
  ExecutionRow,
  'round' | 'attempt' | 'started_at' | 'ended_at' | 'error_type' | 'error_message' | 'error_cause' | 'error_stack'
>;

/** Returns the running or last attempt; none for a pending execution, whose next attempt has not started. */
function lastAttempt(row: ExecutionRow): Attempt[] {
  const { state, attempt_started_at: started_at } = row;
  // An execution that failed while it was pending has an attempt too, but no engine was started for it.
  const hasBegun = state !== 'pending' && (started_at !== null || state === 'failed');
  return hasBegun ? [{ ...row, started_at }] : [];
}

const attemptBody = (row: Attempt, settings: Settings): ExecutionAttemptBody => ({
  round: row.round,
  attempt: row.attempt,
  started_at: timestampOf(row.started_at),
  ended_at: timestampOf(row.ended_at),
  error_type: row.error_type,
  error_message: row.error_message,
  ...shownDetails(settings, row),
});

const modelUseBody = ({
  attempt,
  model,
  input_tokens,
  output_tokens,
  cost,
  latency_ms,
  at,
}: Selectable<UsageTable>): ModelUseBody => ({
  attempt,
  model,
  input_tokens,
  output_tokens,
  ...(cost !== null && { cost }),
  latency_ms,
  at: toTimestamp(at),
});

const toolCallBody = ({
  attempt,
  server,
  tool,
  outcome,
  at,
  duration_ms,
  result_bytes,
}: Selectable<ToolCallsTable>): ToolCallBody => ({
  attempt,
  server,
  tool,
  outcome,
  at: toTimestamp(at),
  ...(duration_ms !== null && { duration_ms }),
  result_bytes,
});

const timestampOf = (time: number | null): string | null => (time === null ? null : toTimestamp(time));

/**
 * Returns the JSON Schema of each type that an external agent publishes, from which clients render a form. Null for
 * other agents.
 */
export function formOf(agentName: string, catalog: Catalog): JsonObject | null {
  const agent = catalog.agent(agentName);
  if (!agent || !isExternal(agent)) return null;
  return Object.fromEntries(agent.outputs.map(({ type }) => [type, catalog.type(type)?.schema ?? { type: 'object' }]));
}
