import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { scheduler } from '../../common/scheduler.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { UnfitOverride } from '../../engines/overridden-agents.js';
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
import { type RunningAgent, RunningAgents } from './running-agents.js';

interface Start {
  running: RunningAgent;
  /** The inputs, or why the attempt cannot begin. */
  given: HeldInputs | ExecutionFailure;
}

/** Runs one attempt of a claimed execution: reads its inputs, runs the engine, commits the outcome. */
@Injectable()
export class ExecutionRun {
  private readonly frames: UserFrames;

  constructor(
    catalog: Catalog,
    private readonly agents: RunningAgents,
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
    const inputs = claimed.change === null ? this.inputs.now(claimed.inputs) : null;
    if (!inputs) return this.beginLater(claimed, abort, holder);
    return this.begin(claimed, { running: this.agents.configured(claimed), given: inputs }, abort, holder);
  }

  /**
   * Starts the attempt when its agent is ready and there is memory for its inputs. Its timeout begins then, because
   * waiting for other executions is not the agent's fault.
   */
  private beginLater(claimed: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
    const begun = this.waitForStart(claimed, abort.signal, holder).then((start) =>
      start === 'discarded' ? null : this.begin(claimed, start, abort, holder),
    );
    return {
      waiting: begun.then(() => undefined),
      committed: begun.then((run) => run?.committed),
      returned: begun.then((run) => run?.returned),
      handedBack: () => begun.then((run) => run?.handedBack?.()),
    };
  }

  private async waitForStart(
    claimed: ClaimedExecution,
    signal: AbortSignal,
    holder: ClaimHolder,
  ): Promise<Start | 'discarded'> {
    // The holder registers the claim only after `start` has returned.
    await Promise.resolve();
    try {
      return await commitWithRetry(holder, this.clock, async () => ({
        running: await this.agents.of(claimed),
        given: await this.inputs.whenFree(claimed.inputs, signal),
      }));
    } catch (error) {
      if (signal.aborted) return 'discarded';
      const configured = this.agents.configured(claimed);
      const running = claimed.change === null ? configured : { ...configured, definition: null };
      return { running, given: this.failureOf(error, claimed) };
    }
  }

  private failureOf(error: unknown, { id }: ClaimedExecution): ExecutionFailure {
    if (error instanceof InputsTooLarge) return { type: 'input', message: error.message, isFinal: true };
    if (error instanceof UnfitOverride) return { type: 'override', message: error.message, isFinal: true };
    this.logger.error({ err: error, execution_id: id }, 'the inputs of an execution could not be read');
    return { type: 'internal', message: 'its inputs could not be read' };
  }

  private begin(
    claimed: ClaimedExecution,
    { running, given }: Start,
    abort: AbortController,
    holder: ClaimHolder,
  ): StartedRun {
    const meter = new ModelMeter();
    const { agent } = running;
    const execution: RunningExecution = {
      ...claimed,
      definition: running.definition,
      span: this.reports.span(claimed),
      meter,
      get usage() {
        return meter.usage;
      },
      toolCalls: [],
      answer: null,
      cache: null,
      hasReserved: false,
      shortfall: null,
    };
    const startedAt = scheduler.elapsed();
    const endsBy = this.clock.now() + agent.timeoutMs;
    this.reports.started(execution, this.clock.now());
    const { result, returned } =
      'artifacts' in given ? this.attempt(execution, running, given.artifacts, abort) : failedAttempt(given);
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
    running: RunningAgent,
    artifacts: AgentArtifact[],
    abort: AbortController,
  ): RunningAttempt {
    const { agent } = running;
    return startAttempt(
      this.agents.engineFor(execution, running),
      { artifacts, view: inputView(artifacts, execution.batch) },
      this.contexts.create(execution, agent, abort.signal),
      { timeoutMs: agent.timeoutMs, clock: this.clock, abort: (reason) => abort.abort(reason) },
      this.frames,
    );
  }
}
