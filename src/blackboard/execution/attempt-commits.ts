import { Inject, Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import type { ExecutionOutcome } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { DeferredCompletion } from '../../engines/engine-answers.js';
import type { ClaimHolder } from '../../queue/claimant.js';
import { commitWithRetry } from '../../queue/commit-with-retry.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import type { Shortfall } from '../budgets/model-calls.js';
import type { MatchedArtifact } from '../publishing/matched-artifacts.js';
import { Answers } from './answers.js';
import type { AttemptResult } from './attempt.js';
import { BudgetOutcomes } from './budget-outcomes.js';
import type { ExecutionFailure } from './ending-execution.js';
import type { RunningExecution } from './engine-contexts.js';
import { Outcomes } from './outcomes.js';

export interface CommittedAttempt {
  outcome: ExecutionOutcome;
  failure?: ExecutionFailure;
}

/**
 * Decides the outcome of an attempt that ran in this process, and commits it. It tries again while the database cannot
 * be written to.
 */
@Injectable()
export class AttemptCommits {
  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly answers: Answers,
    private readonly outcomes: Outcomes,
    private readonly budgetOutcomes: BudgetOutcomes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** `endsBy`: the end of the attempt's time limit (epoch ms). */
  async commit(
    execution: RunningExecution,
    agent: AgentDefinition,
    attempt: AttemptResult,
    endsBy: number,
    holder: ClaimHolder,
  ): Promise<CommittedAttempt> {
    if (attempt.ok && attempt.answer instanceof DeferredCompletion) {
      return {
        outcome: await commitWithRetry(holder, this.clock, () =>
          this.outcomes.deferCompletion(execution, endsBy, holder.freeSlotIn),
        ),
      };
    }
    if (execution.shortfall) return this.commitShortfall(execution, execution.shortfall, holder);
    if (!attempt.ok) return this.commitFailure(execution, attempt.failure, holder);
    const checked = await this.answers.check(execution, agent, attempt.answer);
    if ('problem' in checked) {
      return this.commitFailure(execution, { type: 'output', message: checked.problem }, holder);
    }
    try {
      return await this.commitOutputs(execution, checked.drafts, holder);
    } catch (error) {
      this.logger.error({ err: error, execution_id: execution.id }, 'the outputs of an execution could not be stored');
      return this.commitFailure(execution, { type: 'internal', message: 'its outputs could not be stored' }, holder);
    } finally {
      checked.memory?.release();
    }
  }

  /** Records the usage of an attempt that was handed back. Never rejects. */
  async keepSpent(execution: RunningExecution): Promise<void> {
    try {
      await this.outcomes.keepSpent(execution);
    } catch (error) {
      this.logger.error(
        { err: error, execution_id: execution.id },
        'the usage of an execution that was handed back could not be stored',
      );
    }
  }

  private async commitOutputs(
    execution: RunningExecution,
    drafts: ArtifactDraft[],
    holder: ClaimHolder,
  ): Promise<CommittedAttempt> {
    const matched: MatchedArtifact[] = [];
    const outcome = await commitWithRetry(holder, this.clock, async () => {
      await this.answers.match(execution, drafts, matched);
      return this.outcomes.complete(execution, matched, holder.freeSlotIn);
    });
    return outcome === 'failed'
      ? { outcome, failure: { type: 'budget', message: 'it exceeded a budget' } }
      : { outcome };
  }

  private async commitShortfall(
    execution: RunningExecution,
    shortfall: Shortfall,
    holder: ClaimHolder,
  ): Promise<CommittedAttempt> {
    const { freeSlotIn } = holder;
    if (shortfall.is === 'waits') {
      const wait = () => this.budgetOutcomes.waitForRoom(execution, freeSlotIn);
      return { outcome: await commitWithRetry(holder, this.clock, wait) };
    }
    const { message } = shortfall;
    const end = () => this.budgetOutcomes.endWithCorrelation(execution, message, freeSlotIn);
    return { outcome: await commitWithRetry(holder, this.clock, end), failure: { type: 'budget', message } };
  }

  private async commitFailure(
    execution: RunningExecution,
    failure: ExecutionFailure,
    holder: ClaimHolder,
  ): Promise<CommittedAttempt> {
    const stored = this.settings.errorStacks ? failure : { ...failure, details: undefined };
    const fail = () => this.outcomes.failAttempt(execution, stored, holder.freeSlotIn);
    return { outcome: await commitWithRetry(holder, this.clock, fail), failure };
  }
}
