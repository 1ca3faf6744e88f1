import type { Selectable } from 'kysely';

import type { Piece } from '../../blackboard/queries/stored-pieces.js';
import { lastFields } from '../../common/json.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { RunsTable } from '../../database/schema.js';
import type { RunBody } from '../../http/dto/run-body.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { ListedRunBody } from './dto/run-list.js';
import { RunResult } from './run-results.js';

/** A run, with the start of its first execution. */
export type RunRow = Selectable<RunsTable> & { started_at: number | null };

/** A run with the model usage of its correlation. */
export type FoundRun = RunRow & { input_tokens: number | null; output_tokens: number | null; cost: number | null };

/** Returns the RunBody without its result. */
export const runBody = (run: FoundRun): RunBody => ({
  run_id: run.id,
  status: statusOf(run),
  ...(run.ended_at !== null && timesOf(run)),
  ...(run.error !== null && { error: run.error }),
  ...usageField(run),
});

/**
 * Returns the pieces of a RunBody as JSON: with `result` when it has completed, with times when it has ended. `index`
 * is the first field if it is given.
 */
export function runPieces(run: FoundRun, result: RunResult | undefined, index?: number): Piece[] {
  const { run_id, status, ...rest } = runBody(run);
  if (run.status !== 'completed') return [JSON.stringify({ index, run_id, status, ...rest })];
  const begin = JSON.stringify({ index, run_id, status }).slice(0, -1);
  return [`${begin},"result":`, ...(result ?? new RunResult()).pieces(), lastFields(rest)];
}

export const listedRunBody = (run: RunRow): ListedRunBody => ({
  run_id: run.id,
  agent_name: run.agent,
  status: statusOf(run),
  ...(run.batch_id !== null && { batch_id: run.batch_id }),
  created_at: toTimestamp(run.created_at),
  ...timesOf(run),
  ...(run.error !== null && { error: run.error }),
});

const statusOf = ({ status, started_at }: RunRow): RunBody['status'] =>
  status === 'running' && started_at === null ? 'starting' : status;

function timesOf(run: RunRow): Pick<RunBody, 'started_at' | 'completed_at'> {
  // A batch item without an execution failed when its run was created.
  const startedAt = run.execution_id === null ? run.created_at : run.started_at;
  return {
    ...(startedAt !== null && { started_at: toTimestamp(startedAt) }),
    ...(run.ended_at !== null && { completed_at: toTimestamp(run.ended_at) }),
  };
}
