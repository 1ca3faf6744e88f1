import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import type { LastingVisibility, Visibility } from '../../catalog/visibility.js';
import { newId } from '../../common/ids.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { ArtifactWriter } from '../artifacts/artifact-writer.js';
import { errorVisibility } from '../artifacts/error-visibility.js';
import { findVisibilities } from '../artifacts/stored-artifact-rows.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { isReplay } from '../correlations/tracked-correlation.js';
import { TimerQueue } from './timer-queue.js';

export interface WorkflowFailure {
  agent: string;
  errorType: string;
  message: string;
  correlationId: string;
  /** Null, with 0 attempts, for a failure without an execution: an expired join, a limit, a removed agent. */
  executionId: string | null;
  attempts: number;
  inputArtifactIds: string[];
  /** True for a direct run, whose error triggers no agent. */
  silent: boolean;
}

/** Writes WorkflowError artifacts, which make failures visible on the blackboard. */
@Injectable()
export class WorkflowErrors {
  constructor(
    private readonly catalog: Catalog,
    private readonly writer: ArtifactWriter,
    private readonly timers: TimerQueue,
  ) {}

  async write(tx: Transaction, changes: CorrelationChanges, failure: WorkflowFailure): Promise<void> {
    const correlation = await changes.get(failure.correlationId);
    const payload = {
      failed_agent: failure.agent,
      error_type: failure.errorType,
      error_message: failure.message,
      timestamp: toTimestamp(changes.now),
      execution_id: failure.executionId,
      attempts: failure.attempts,
      input_artifact_ids: failure.inputArtifactIds,
    };
    const draft = {
      id: newId(),
      type: WORKFLOW_ERROR,
      version: this.catalog.type(WORKFLOW_ERROR)?.version ?? 1,
      payload,
      payloadText: JSON.stringify(payload),
      producedBy: failure.agent,
      visibility: await this.visibilityOf(tx, changes, failure),
      tags: [],
      partitionKey: null,
      correlationId: failure.correlationId,
      executionId: failure.executionId,
      replay: isReplay(correlation),
      createdAt: changes.now,
    };
    const seq = (await this.writer.insert(tx, draft))!;
    changes.addArtifact(correlation, seq, draft);
    // Matching may evaluate expressions, and a transaction must not wait for them. A durable timer that is due
    // immediately releases the error to its subscribers and to what it cancels.
    if (!failure.silent && this.hasTakers) {
      correlation.pending += 1;
      await this.timers.setRelease(tx, changes.now, seq, failure.correlationId);
    }
  }

  private get hasTakers(): boolean {
    const { catalog } = this;
    return catalog.subscriptionsTo(WORKFLOW_ERROR).length > 0 || catalog.cancelledBy(WORKFLOW_ERROR).length > 0;
  }

  private async visibilityOf(
    tx: Transaction,
    { now }: CorrelationChanges,
    { agent, inputArtifactIds }: WorkflowFailure,
  ): Promise<LastingVisibility> {
    const kinds = await findVisibilities(tx.db, {}, inputArtifactIds);
    const inputs = kinds.map(({ visibility, newest }) => ({
      visibility: JSON.parse(visibility) as Visibility,
      createdAt: newest,
    }));
    return errorVisibility(agent, inputs, now);
  }
}
