import { Injectable } from '@nestjs/common';

import { Settings } from '../../config/settings.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { findArtifactIds } from '../artifacts/stored-artifact-rows.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { completedAreStored } from './completed-rows.js';
import { countInGeneration } from './queued-execution-rows.js';
import { WorkflowErrors } from './workflow-errors.js';

interface Added {
  agent: string;
  correlation: TrackedCorrelation;
  /** Positions of the input artifacts. */
  inputs: number[];
}

/** Limits how often an agent runs in one generation of a correlation. */
@Injectable()
export class GenerationLimit {
  constructor(
    private readonly settings: Settings,
    private readonly errors: WorkflowErrors,
  ) {}

  /** Whether the agent has reached the limit. The first time in a correlation, it writes a WorkflowError. */
  async refuses(tx: Transaction, changes: CorrelationChanges, added: Added): Promise<boolean> {
    if (!(await this.isReached(tx, changes, added))) return false;
    await this.report(tx, changes, added);
    return true;
  }

  // The correlation stores the generation's count over all agents. The agent's executions are counted only if that
  // count has reached the limit.
  private async isReached(
    tx: Transaction,
    changes: CorrelationChanges,
    { correlation, agent }: Added,
  ): Promise<boolean> {
    const limit = this.settings.maxExecutionsPerCorrelation;
    if (correlation.generation_executions < limit) return false;
    await completedAreStored(tx, changes);
    return (await countInGeneration(tx, correlation, agent)) >= limit;
  }

  private async report(
    tx: Transaction,
    changes: CorrelationChanges,
    { agent, correlation, inputs }: Added,
  ): Promise<void> {
    const reported = JSON.parse(correlation.limited_agents) as string[];
    if (reported.includes(agent)) return;
    correlation.limited_agents = JSON.stringify([...reported, agent]);
    await this.errors.write(tx, changes, {
      agent,
      errorType: 'limit',
      message: `${agent} has had ${this.settings.maxExecutionsPerCorrelation} executions in this correlation, and gets no more; raise max_executions_per_correlation to allow more`,
      correlationId: correlation.id,
      executionId: null,
      attempts: 0,
      inputArtifactIds: await findArtifactIds(tx, inputs),
      silent: false,
    });
  }
}
