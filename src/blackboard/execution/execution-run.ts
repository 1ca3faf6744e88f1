import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { scheduler } from '../../common/scheduler.js';
import { type AgentArtifact, PreparedEngines } from '../../engines/engine.js';
import { UserFrames } from '../../engines/user-frames.js';
import type { ClaimHolder, StartedRun } from '../../queue/claimant.js';
import { commitWithRetry } from '../../queue/commit-with-retry.js';
import { ModelMeter } from '../budgets/model-meter.js';
import { inputView } from '../matching/input-view.js';
import { failedAttempt, type RunningAttempt, startAttempt } from './attempt.js';
import { AttemptCommits } from './attempt-commits.js';
import { AttemptReports } from './attempt-reports.js';
import type { ClaimedExecution } from './claimed-execution.js';
import type { ExecutionFailure } from './ending-execution.js';
import { EngineContexts, type RunningExecution } from './engine-contexts.js';
import { type HeldInputs, InputParsing, InputsTooLarge } from './input-parsing.js';

/** Runs one attempt of a claimed execution: reads its inputs, runs the engine, commits the outcome. */
@Injectable()
export class ExecutionRun {
  private readonly frames: UserFrames;

  constructor(
    private readonly catalog: Catalog,
    private readonly engines: PreparedEngines,
    private readonly inputs: InputParsing,
    private readonly contexts: EngineContexts,
    private readonly commits: AttemptCommits,
    private readonly reports: AttemptReports,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.frames = new UserFrames(catalog.baseDirectory);
  }

  start(claimed: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
    this.reports.claimed(claimed);
    const inputs = this.inputs.now(claimed.inputs);
    return inputs ? this.begin(claimed, inputs, abort, holder) : this.beginLater(claimed, abort, holder);
  }

  /**
   * Starts the attempt when there is memory for its inputs. Its timeout begins then, because waiting for other
   * executions is not the agent's fault.
   */
  private beginLater(claimed: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
    const begun = this.waitForInputs(claimed, abort.signal, holder).then((inputs) =>
      inputs === 'discarded' ? null : this.begin(claimed, inputs, abort, holder),
    );
    return {
      waiting: begun.then(() => undefined),
      committed: begun.then((run) => run?.committed),
      returned: begun.then((run) => run?.returned),
      handedBack: () => begun.then((run) => run?.handedBack?.()),
    };
  }

  private async waitForInputs(
    claimed: ClaimedExecution,
    signal: AbortSignal,
    holder: ClaimHolder,
  ): Promise<HeldInputs | ExecutionFailure | 'discarded'> {
    // The holder registers the claim only after `start` has returned.
    await Promise.resolve();
    try {
      return await commitWithRetry(holder, this.clock, () => this.inputs.whenFree(claimed.inputs, signal));
    } catch (error) {
      if (signal.aborted) return 'discarded';
      if (error instanceof InputsTooLarge) return { type: 'input', message: error.message, isFinal: true };
      this.logger.error({ err: error, execution_id: claimed.id }, 'the inputs of an execution could not be read');
      return { type: 'internal', message: 'its inputs could not be read' };
    }
  }

  /** `given`: the inputs, or why they are not available. */
  private begin(
    claimed: ClaimedExecution,
    given: HeldInputs | ExecutionFailure,
    abort: AbortController,
    holder: ClaimHolder,
  ): StartedRun {
    const meter = new ModelMeter();
    const execution: RunningExecution = {
      ...claimed,
      span: this.reports.span(claimed),
      meter,
      get usage() {
        return meter.usage;
      },
      toolCalls: [],
      answer: null,
      hasReserved: false,
      shortfall: null,
    };
    const agent = this.catalog.agent(execution.agent)!;
    const startedAt = scheduler.elapsed();
    const endsBy = this.clock.now() + agent.timeoutMs;
    this.reports.started(execution, this.clock.now());
    const { result, returned } =
      'artifacts' in given ? this.attempt(execution, agent, given.artifacts, abort) : failedAttempt(given);
    const committed = result
      .then((attempt) => this.commits.commit(execution, agent, attempt, endsBy, holder))
      .then((outcome) => this.reports.ended(execution, outcome, scheduler.elapsed() - startedAt))
      .catch((error: unknown) => {
        this.logger.error(
          { err: error, execution_id: execution.id },
          'the outcome of an execution could not be committed',
        );
        execution.span.end({ failed: true, attributes: { 'error.type': 'internal' } });
      });
    if ('artifacts' in given) {
      void Promise.all([committed, returned]).then(() => {
        given.release();
        execution.answer?.release();
      });
    }
    return { committed, returned, handedBack: () => this.commits.keepSpent(execution) };
  }

  private attempt(
    execution: RunningExecution,
    agent: AgentDefinition,
    artifacts: AgentArtifact[],
    abort: AbortController,
  ): RunningAttempt {
    return startAttempt(
      this.engines.for(execution.agent)!,
      { artifacts, view: inputView(artifacts, execution.batch) },
      this.contexts.create(execution, agent, abort.signal),
      { timeoutMs: agent.timeoutMs, clock: this.clock, abort: (reason) => abort.abort(reason) },
      this.frames,
    );
  }
}
