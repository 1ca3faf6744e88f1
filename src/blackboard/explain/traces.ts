import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { toTimestamp } from '../../common/timestamp.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { timeOfRetry } from '../../queue/queue.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { replayedAs } from '../correlations/replay-values.js';
import { countsOf } from '../correlations/tracked-correlation.js';
import { shownDetails } from '../queries/shown-details.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';
import { heldUntil } from './held-until.js';
import type { Trace, TracedArtifact, TracedAttempt, TracedExecution } from './trace.js';
import {
  type ArtifactOfTrace,
  type AttemptOfTrace,
  type End,
  type ExecutionOfTrace,
  findArtifacts,
  findExecutions,
  findFailedAttempts,
  findInputs,
  findOutputs,
  findUses,
  MOST_LISTED,
} from './trace-rows.js';

/** Executions that are read together. Each can have hundreds of kilobytes of errors, with `error_stacks` a megabyte. */
const EXECUTIONS_AT_ONCE = 20;

/** Memory of a part of a trace, in multiples of its JSON length. */
const COPIES = 3;

/** Shows a correlation as a graph: its artifacts, and the executions that consumed and published them. */
@Injectable()
export class Traces {
  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly withoutAgent: ExecutionsWithoutAgent,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Returns at most `limit` artifacts after the position `after`, or undefined if the correlation does not exist.
   * Throws DomainError `unavailable` if there is no memory for it now, and `invalid` if it can never fit.
   */
  async of(correlationId: string, after: number, limit: number): Promise<Trace | undefined> {
    const held = this.memory.reserve(0);
    const hold = (characters: number): void => {
      const bytes = COPIES * characters;
      if (bytes > this.memory.largestBytes)
        throw new DomainError(
          'invalid',
          `limit: a trace of ${limit} artifacts takes more memory than memory_budget allows for one request; use a smaller limit`,
        );
      held.resize(bytes);
    };
    try {
      return await this.page(correlationId, after, limit, hold);
    } finally {
      held.release();
    }
  }

  private async page(
    correlationId: string,
    after: number,
    limit: number,
    hold: (characters: number) => void,
  ): Promise<Trace | undefined> {
    const { reader } = this.unitOfWork;
    const correlation = await findCorrelation(reader, correlationId);
    if (!correlation) return undefined;
    const found = await findArtifacts(reader, correlationId, after, limit + 1);
    const rows = found.slice(0, limit);
    const uses = await findUses(
      reader,
      rows.map(({ seq }) => seq),
    );
    const producers = rows.flatMap(({ execution_id }) => execution_id ?? []);
    const executions = await this.executions(
      [...new Set([...uses.map(({ execution_id }) => execution_id), ...producers])],
      hold,
    );
    return {
      correlation_id: correlationId,
      ...(correlation.replay_mode !== null && { replay_mode: correlation.replay_mode }),
      state: correlation.state,
      generation: correlation.generation,
      started_at: toTimestamp(correlation.started_at),
      last_activity_at: toTimestamp(correlation.last_activity_at),
      settled_at: timestampOrNull(correlation.settled_at),
      ...countsOf(correlation),
      artifacts: artifactsWithUses(rows, uses, executions),
      executions,
      truncated: found.length > limit,
    };
  }

  /** Sorted by the time when they were made. */
  private async executions(ids: string[], hold: (characters: number) => void): Promise<TracedExecution[]> {
    const lacking = await this.withoutAgent.agents();
    const found: { seq: number; execution: TracedExecution }[] = [];
    let characters = 0;
    for (let start = 0; start < ids.length; start += EXECUTIONS_AT_ONCE) {
      for (const one of await this.some(ids.slice(start, start + EXECUTIONS_AT_ONCE), lacking)) {
        characters += JSON.stringify(one).length;
        found.push(one);
      }
      hold(characters);
    }
    return found.sort((one, other) => one.seq - other.seq).map(({ execution }) => execution);
  }

  private async some(
    ids: string[],
    lacking: readonly string[],
  ): Promise<{ seq: number; execution: TracedExecution }[]> {
    const { reader } = this.unitOfWork;
    const rows = await findExecutions(reader, ids);
    const inputs = byExecution(await findInputs(reader, ids));
    const outputs = byExecution(await findOutputs(reader, ids));
    const failed = byExecution(await findFailedAttempts(reader, ids));
    return rows.map((row) => ({
      seq: row.seq,
      execution: executionOf(
        row,
        inputs.get(row.id) ?? [],
        outputs.get(row.id) ?? [],
        attemptsOf(row, failed.get(row.id) ?? [], this.settings),
        lacking,
        this.settings,
      ),
    }));
  }
}

const byExecution = <Row extends { execution_id: string | null }>(rows: Row[]): Map<string | null, Row[]> =>
  Map.groupBy(rows, ({ execution_id }) => execution_id);

function artifactsWithUses(
  rows: ArtifactOfTrace[],
  uses: { artifact_seq: number; execution_id: string }[],
  executions: TracedExecution[],
): TracedArtifact[] {
  const order = new Map(executions.map(({ id }, place) => [id, place]));
  const bySeq = Map.groupBy(uses, ({ artifact_seq }) => artifact_seq);
  return rows.map(({ seq, id, type, produced_by, execution_id, created_at }) => ({
    id,
    type,
    produced_by,
    execution_id,
    created_at: toTimestamp(created_at),
    input_of: (bySeq.get(seq) ?? [])
      .map((use) => use.execution_id)
      .sort((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0)),
  }));
}

const executionOf = (
  row: ExecutionOfTrace,
  inputs: End[],
  outputs: End[],
  attempts: TracedAttempt[],
  lacking: readonly string[],
  settings: Settings,
): TracedExecution => ({
  id: row.id,
  agent: row.agent,
  subscription: row.subscription,
  invoked: row.run_id !== null || row.direct === 1,
  correlation_id: row.correlation_id,
  generation: row.generation,
  state: row.state,
  ...(row.state === 'pending' && lacking.includes(row.agent) && { without_agent: true }),
  ...replayedAs(row),
  created_at: toTimestamp(row.created_at),
  started_at: timestampOrNull(row.started_at),
  ended_at: timestampOrNull(row.ended_at),
  next_attempt_at: timestampOrNull(timeOfRetry(row)),
  attempts: attempts.slice(0, MOST_LISTED),
  error_type: row.error_type,
  error_message: row.error_message,
  ...shownDetails(settings, row),
  ...(row.cancelled_by !== null && { cancelled_by: row.cancelled_by }),
  ...(row.cached_from !== null && { cached_from: row.cached_from }),
  ...(row.skipped_for !== null && { skipped_for: row.skipped_for }),
  ...(row.superseded_by !== null && { superseded_by: row.superseded_by }),
  ...(row.variant !== null && { variant: row.variant }),
  assignee: row.assignee,
  claimed_by: row.claimed_by,
  lease_until: timestampOrNull(heldUntil(row)),
  due_at: timestampOrNull(row.due_at),
  inputs: inputs.slice(0, MOST_LISTED).map(({ id }) => id),
  outputs: outputs.slice(0, MOST_LISTED).map(({ id }) => id),
  truncated: [inputs, outputs, attempts].some(({ length }) => length > MOST_LISTED),
});

/** The earlier failed attempts, and the last attempt if it has started: its data is stored with the execution. */
function attemptsOf(row: ExecutionOfTrace, failed: AttemptOfTrace[], settings: Settings): TracedAttempt[] {
  const started = hasStarted(row, failed) ? [...failed, { ...row, started_at: row.attempt_started_at }] : failed;
  return started.map((one) => ({
    attempt: one.attempt,
    round: one.round,
    started_at: timestampOrNull(one.started_at),
    ended_at: timestampOrNull(one.ended_at),
    error_type: one.error_type,
    error_message: one.error_message,
    ...shownDetails(settings, one),
  }));
}

/**
 * While an execution waits, or if it was cancelled while it waited, its start time is still that of the previous
 * attempt.
 */
function hasStarted({ state, attempt_started_at }: ExecutionOfTrace, failed: AttemptOfTrace[]): boolean {
  if (state !== 'cancelled') return state !== 'pending';
  return attempt_started_at !== null && attempt_started_at !== failed.at(-1)?.started_at;
}

const timestampOrNull = (time: number | null): string | null => (time === null ? null : toTimestamp(time));
