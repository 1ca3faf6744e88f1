import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import type { ExecutionOutcome } from '../../common/telemetry.js';
import { type AgentArtifact, type EngineContext, PreparedEngines } from '../../engines/engine.js';
import { DeferredCompletion } from '../../engines/engine-answers.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import type { ClaimHolder, StartedRun } from '../../queue/claiming-loop.js';
import { commitWithRetry } from '../../queue/commit-with-retry.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import type { AttemptUsage } from '../budgets/attempt-usage.js';
import { type CallingExecution, ModelCalls, type Shortfall } from '../budgets/model-calls.js';
import { ModelMeter } from '../budgets/model-meter.js';
import type { RecordedCall } from '../budgets/usages.js';
import { inputView } from '../matching/input-view.js';
import type { MatchedArtifact } from '../publishing/publisher.js';
import { AgentReaders } from '../queries/agent-reader.js';
import { AnswerMemory } from './answer-memory.js';
import { Answers } from './answers.js';
import { type AttemptResult, failedAttempt, type RunningAttempt, startAttempt } from './attempt.js';
import { AttemptReports, traceOf } from './attempt-reports.js';
import type { ClaimedExecution } from './claims.js';
import type { ExecutionFailure } from './ending-execution.js';
import { executionEvent, outputEvents } from './execution-events.js';
import { type HeldInputs, InputParsing, InputsTooLarge } from './input-parsing.js';
import { outsideToken } from './lease-token.js';
import { Outcomes } from './outcomes.js';

/** A claimed execution while its attempt runs. */
type RunningExecution = ClaimedExecution &
  CallingExecution & {
    readonly usage: AttemptUsage | null;
    toolCalls: RecordedCall[];
    answer: MemoryReservation | null;
  };

/** Runs one attempt of a claimed execution: runs the engine, checks the answer, commits the outcome. */
@Injectable()
export class ExecutionRun {
  constructor(
    private readonly catalog: Catalog,
    private readonly engines: PreparedEngines,
    private readonly inputs: InputParsing,
    private readonly clock: Clock,
    private readonly answerMemory: AnswerMemory,
    private readonly answers: Answers,
    private readonly outcomes: Outcomes,
    private readonly modelCalls: ModelCalls,
    private readonly readers: AgentReaders,
    private readonly reports: AttemptReports,
    private readonly liveEvents: LiveEvents,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(claimed: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
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
    const startedAt = performance.now();
    const endsBy = this.clock.now() + agent.timeoutMs;
    if (this.liveEvents.areWanted)
      this.liveEvents.emit(executionEvent('execution_started', execution, this.clock.now()));
    const { result, returned } =
      'artifacts' in given ? this.attempt(execution, agent, given.artifacts, abort) : failedAttempt(given);
    const committed = result
      .then((attempt) => this.commit(execution, agent, attempt, endsBy, holder))
      .then((outcome) => this.reports.ended(execution, outcome, performance.now() - startedAt))
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
    return { committed, returned, handedBack: () => this.keepSpent(execution) };
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
      this.context(execution, agent, abort.signal),
      { timeoutMs: agent.timeoutMs, clock: this.clock, abort: (reason) => abort.abort(reason) },
    );
  }

  private context(execution: RunningExecution, agent: AgentDefinition, signal: AbortSignal): EngineContext {
    const { logger } = this;
    let child: Logger | undefined;
    return {
      executionId: execution.id,
      correlationId: execution.correlationId,
      attempt: execution.attempt,
      traceparent: execution.span.traceparent,
      get leaseToken() {
        return outsideToken(execution.leaseToken, execution.id);
      },
      signal,
      blackboard: this.readers.for(agent),
      newest: (filter, except, mostCharacters) => this.readers.newest(agent, filter, except, mostCharacters),
      parses: async (text) => {
        execution.answer?.release();
        execution.answer = await this.answerMemory.forAnswer(text, signal);
      },
      refusal: (answer) => {
        const checked = this.check(execution, agent, { ok: true, answer });
        return 'failure' in checked ? checked.failure.message : null;
      },
      used: (usage) => execution.meter.used(usage),
      reserve: (need) => this.modelCalls.reserve(execution, need, signal),
      settle: (end) => this.modelCalls.settle(execution, end),
      calls: (call) => {
        const recorded: RecordedCall = { ...call, end: null };
        execution.toolCalls.push(recorded);
        return (end) => void (recorded.end = end);
      },
      wrote: (text, answer) => {
        if (this.liveEvents.areWanted)
          outputEvents(execution, this.clock.now(), text, answer).forEach((event) => this.liveEvents.emit(event));
      },
      // Created on first use: it costs more than evaluating many expressions, and few engines log.
      get logger() {
        return (child ??= logger.child({
          agent: agent.name,
          execution_id: execution.id,
          correlation_id: execution.correlationId,
          ...traceOf(execution),
        }));
      },
    };
  }

  private async keepSpent(execution: RunningExecution): Promise<void> {
    try {
      await this.outcomes.keepSpent(execution);
    } catch (error) {
      this.logger.error(
        { err: error, execution_id: execution.id },
        'the usage of an execution that was handed back could not be stored',
      );
    }
  }

  private async commit(
    execution: RunningExecution,
    agent: AgentDefinition,
    attempt: AttemptResult,
    endsBy: number,
    holder: ClaimHolder,
  ): Promise<{ outcome: ExecutionOutcome; failure?: ExecutionFailure }> {
    if (attempt.ok && attempt.answer instanceof DeferredCompletion) {
      return {
        outcome: await commitWithRetry(holder, this.clock, () =>
          this.outcomes.deferCompletion(execution, endsBy, holder.onOutcomeVisible),
        ),
      };
    }
    if (execution.shortfall) return this.commitShortfall(execution, execution.shortfall, holder);
    const checked = this.check(execution, agent, attempt);
    if ('failure' in checked) return this.commitFailure(execution, checked.failure, holder);
    try {
      const matched: MatchedArtifact[] = [];
      const complete = async () => {
        await this.answers.match(execution, checked.drafts, matched);
        return this.outcomes.complete(execution, matched, holder.onOutcomeVisible);
      };
      const outcome = await commitWithRetry(holder, this.clock, complete);
      return outcome === 'failed'
        ? { outcome, failure: { type: 'budget', message: 'it exceeded a budget' } }
        : { outcome };
    } catch (error) {
      this.logger.error({ err: error, execution_id: execution.id }, 'the outputs of an execution could not be stored');
      return this.commitFailure(execution, { type: 'internal', message: 'its outputs could not be stored' }, holder);
    }
  }

  private async commitShortfall(
    execution: RunningExecution,
    shortfall: Shortfall,
    holder: ClaimHolder,
  ): Promise<{ outcome: ExecutionOutcome; failure?: ExecutionFailure }> {
    if (shortfall.is === 'waits')
      return {
        outcome: await commitWithRetry(holder, this.clock, () =>
          this.outcomes.waitForBudget(execution, holder.onOutcomeVisible),
        ),
      };
    const failure = { type: 'budget', message: shortfall.message };
    return {
      outcome: await commitWithRetry(holder, this.clock, () =>
        this.outcomes.endWithCorrelation(execution, failure, holder.onOutcomeVisible),
      ),
      failure,
    };
  }

  private async commitFailure(
    execution: RunningExecution,
    failure: ExecutionFailure,
    holder: ClaimHolder,
  ): Promise<{ outcome: ExecutionOutcome; failure: ExecutionFailure }> {
    return {
      outcome: await commitWithRetry(holder, this.clock, () =>
        this.outcomes.failAttempt(execution, failure, holder.onOutcomeVisible),
      ),
      failure,
    };
  }

  private check(
    execution: ClaimedExecution,
    agent: AgentDefinition,
    attempt: AttemptResult,
  ): { drafts: ArtifactDraft[] } | { failure: ExecutionFailure } {
    if (!attempt.ok) return { failure: attempt.failure };
    const checked = this.answers.check(execution, agent, attempt.answer);
    return 'problem' in checked ? { failure: { type: 'output', message: checked.problem } } : checked;
  }
}
