import { Injectable } from '@nestjs/common';

import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { RECORDED } from '../correlations/replay-values.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { countEndsWithoutRun } from '../execution/activity-event-rows.js';
import type { AnsweredWork, CorrelationRecord } from './answered-work.js';
import {
  copyAttempts,
  insertRecordedExecutions,
  insertRecordedInputs,
  insertRecordedUses,
  type RecordedExecution,
} from './record-rows.js';
import { recordedDraft } from './recorded-draft.js';

/** Writes what a replay takes from the record. */
@Injectable()
export class RecordedCopies {
  constructor(private readonly writer: ArtifactWriter) {}

  /** Returns the positions of the new artifacts, keyed by those of the record. */
  async write(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    record: CorrelationRecord,
    answered: AnsweredWork,
  ): Promise<Map<number, number>> {
    const executionIds = new Map(answered.executions.map(({ id }) => [id, newId()]));
    const copied = record.artifacts.filter(({ seq }) => answered.artifacts.has(seq));
    const artifactIds = new Map(copied.map(({ id }) => [id, newId()]));
    await insertRecordedExecutions(
      tx.db,
      answered.executions.map((execution) =>
        copyOf(execution, executionIds.get(execution.id)!, correlation, changes.now),
      ),
    );
    const ended = answered.executions.filter(({ state }) => state === 'completed' || state === 'failed');
    if (ended.length > 0) await countEndsWithoutRun(tx, ended.length, changes.now);
    const positions = new Map<number, number>();
    for (const row of copied) {
      const draft = draftOf(row, correlation.id, changes.now, { executionIds, artifactIds });
      const seq = (await this.writer.insert(tx, draft))!;
      positions.set(row.seq, seq);
      changes.addArtifact(correlation, seq, draft);
    }
    for (const execution of answered.executions)
      await this.writeInputs(tx, execution, executionIds.get(execution.id)!, record, positions, changes.now);
    await copyAttempts(tx.db, executionIds);
    correlation.generation_executions += answered.executions.length;
    return positions;
  }

  /** Inputs of other correlations stay the originals, and nothing is recorded about these. */
  private async writeInputs(
    tx: Transaction,
    { id, agent }: RecordedExecution,
    execution_id: string,
    record: CorrelationRecord,
    positions: ReadonlyMap<number, number>,
    now: number,
  ): Promise<void> {
    const inputs = (record.inputs.get(id) ?? []).map(({ artifact_seq }) => artifact_seq);
    await insertRecordedInputs(
      tx.db,
      inputs.map((seq, position) => ({ execution_id, position, artifact_seq: positions.get(seq) ?? seq })),
    );
    const own = new Set(inputs.flatMap((seq) => positions.get(seq) ?? []));
    await insertRecordedUses(
      tx.db,
      [...own].map((artifact_seq) => ({ artifact_seq, execution_id, consumer: agent, consumed_at: now })),
    );
  }
}

const copyOf = (execution: RecordedExecution, id: string, correlation: TrackedCorrelation, now: number) => ({
  id,
  agent: execution.agent,
  subscription: execution.subscription,
  correlation_id: correlation.id,
  generation: correlation.generation,
  state: execution.state,
  direct: execution.direct,
  replay: RECORDED,
  batch: execution.batch,
  priority: execution.priority,
  background: correlation.background,
  attempt: execution.attempt,
  round: execution.round,
  lost_leases: 0,
  created_at: now,
  started_at: now,
  attempt_started_at: now,
  ended_at: now,
  error_type: execution.error_type,
  error_message: execution.error_message,
  error_cause: execution.error_cause,
  error_stack: execution.error_stack,
  definition: execution.definition,
  variant: execution.variant,
});

interface NewIds {
  executionIds: ReadonlyMap<string, string>;
  artifactIds: ReadonlyMap<string, string>;
}

function draftOf(row: ArtifactRow, correlationId: string, createdAt: number, ids: NewIds): ArtifactDraft {
  const executionId = row.execution_id === null ? null : ids.executionIds.get(row.execution_id)!;
  const draft = {
    ...recordedDraft(row, { correlationId, executionId, createdAt }),
    id: ids.artifactIds.get(row.id)!,
  };
  if (row.type !== WORKFLOW_ERROR) return draft;
  const payload = errorOfReplay(draft.payload, ids);
  return { ...draft, payload, payloadText: JSON.stringify(payload) };
}

/** An error names the execution and the inputs of the replay. */
function errorOfReplay(recorded: JsonObject, { executionIds, artifactIds }: NewIds): JsonObject {
  const { execution_id, input_artifact_ids } = recorded as {
    execution_id: string | null;
    input_artifact_ids: string[];
  };
  return {
    ...recorded,
    execution_id: execution_id === null ? null : (executionIds.get(execution_id) ?? execution_id),
    input_artifact_ids: input_artifact_ids.map((id) => artifactIds.get(id) ?? id),
  };
}
