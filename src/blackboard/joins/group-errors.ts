import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { findArtifactIds } from '../artifacts/stored-artifact-rows.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { WorkflowErrors, type WorkflowFailure } from '../scheduling/workflow-errors.js';
import type { Member } from './join-group-rows.js';

/** Writes the errors of groups that end without an execution. */
@Injectable()
export class GroupErrors {
  constructor(private readonly errors: WorkflowErrors) {}

  /** Writes one WorkflowError into each correlation of these members that has not settled. */
  async write(
    tx: Transaction,
    changes: CorrelationChanges,
    failure: Pick<WorkflowFailure, 'agent' | 'errorType' | 'message'>,
    members: readonly Member[],
  ): Promise<void> {
    for (const [correlationId, own] of Map.groupBy(members, ({ correlation_id }) => correlation_id)) {
      if ((await changes.find(correlationId))?.state !== 'active') continue;
      const seqs = own.map(({ artifact_seq }) => artifact_seq);
      await this.errors.write(tx, changes, {
        ...failure,
        correlationId,
        executionId: null,
        attempts: 0,
        inputArtifactIds: await findArtifactIds(tx, seqs),
        silent: false,
      });
    }
  }
}
