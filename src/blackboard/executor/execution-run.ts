import { Inject, Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type ExecutionOutcome, Telemetry } from '../../common/telemetry.js';
import { type EngineContext, PreparedEngines } from '../../engines/engine.js';
import type { ClaimHolder, StartedRun } from '../../leasing/claiming-loop.js';
import { persist } from '../../leasing/persist.js';
import { Notices } from '../../signals/notices.js';
import { traceIdOf } from '../../tracing/traceparent.js';
import { type Span, Tracing } from '../../tracing/tracing.js';
import { AgentReaders } from '../queries/agent-reader.js';
import { agentArtifactFromRow } from '../artifact.js';
import type { ArtifactDraft } from '../artifact-writer.js';
import { type AttemptResult, startAttempt } from './attempt.js';
import { addUsage, type AttemptUsage } from './attempt-usage.js';
import type { ClaimedExecution } from './claims.js';
import { executionNotice, outputNotices } from './execution-notice.js';
import { inputView } from '../input-view.js';
import { type ExecutionFailure, Outcomes } from './outcomes.js';
import { type CheckedOutput, checkOutputs, OutputError } from './outputs.js';
import { type MatchedArtifact, Publisher } from '../publisher.js';

/** A claimed execution, while its attempt runs. */
type RunningExecution = ClaimedExecution & { span: Span; usage: AttemptUsage | null };

const MATCHED_AT_ONCE = 16;

/** Runs one attempt of a claimed execution: its engine, the check of the answer, the outcome. */
@Injectable()
export class ExecutionRun {
  constructor(
    private readonly catalog: Catalog,
    private readonly engines: PreparedEngines,
    private readonly clock: Clock,
    private readonly publisher: Publisher,
    private readonly outcomes: Outcomes,
    private readonly readers: AgentReaders,
    private readonly telemetry: Telemetry,
    private readonly tracing: Tracing,
    private readonly notices: Notices,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(claimed: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
    const execution: RunningExecution = { ...claimed, span: this.span(claimed), usage: null };
    const agent = this.catalog.agent(execution.agent)!;
    const startedAt = performance.now();
    if (this.notices.areWanted) this.notices.tell(executionNotice('execution_started', execution, this.clock.now()));
    const artifacts = execution.inputs.map(agentArtifactFromRow);
    const { result, returned } = startAttempt(
      this.engines.for(execution.agent)!,
      { artifacts, view: inputView(artifacts, execution.batch) },
      this.context(execution, agent, abort.signal),
      { timeoutMs: agent.timeoutMs, clock: this.clock, abort: (reason) => abort.abort(reason) },
    );
    const committed = result
      .then((attempt) => this.commit(execution, agent, attempt, holder))
      .then((outcome) => this.report(execution, outcome, performance.now() - startedAt))
      .catch((error: unknown) => {
        this.logger.error({ err: error, execution_id: execution.id }, 'an outcome could not be committed');
        execution.span.end({ failed: true, attributes: { 'error.type': 'internal' } });
      });
    return { committed, returned };
  }

  /** Attempts of one execution stand side by side: what caused the first one caused all. */
  private span({ id, agent, attempt, correlationId, traceparent }: ClaimedExecution): Span {
    return this.tracing.start(`agent ${agent}`, {
      kind: 'consumer',
      parent: traceparent,
      attributes: {
        'starling.agent': agent,
        'starling.execution.id': id,
        'starling.execution.attempt': attempt,
        'starling.correlation.id': correlationId,
      },
    });
  }

  private context(execution: RunningExecution, agent: AgentDefinition, signal: AbortSignal): EngineContext {
    const { logger } = this;
    let child: Logger | undefined;
    return {
      executionId: execution.id,
      correlationId: execution.correlationId,
      attempt: execution.attempt,
      traceparent: execution.span.traceparent,
      signal,
      blackboard: this.readers.for(agent),
      refusal: (answer) => {
        const checked = this.check(execution, agent, { ok: true, answer });
        return 'failure' in checked ? checked.failure.message : null;
      },
      used: (usage) => {
        execution.usage = addUsage(execution.usage, usage);
      },
      wrote: (text, answer) => {
        if (this.notices.areWanted) outputNotices(execution, this.clock.now(), text, answer).forEach((notice) => this.notices.tell(notice));
      },
      // Made when it is first asked for: it costs more than many an expression, and few engines log.
      get logger() {
        return (child ??= logger.child({ agent: agent.name, execution_id: execution.id, correlation_id: execution.correlationId, ...traceOf(execution) }));
      },
    };
  }

  private async commit(
    execution: RunningExecution,
    agent: AgentDefinition,
    attempt: AttemptResult,
    holder: ClaimHolder,
  ): Promise<{ outcome: ExecutionOutcome; failure?: ExecutionFailure }> {
    const checked = this.check(execution, agent, attempt);
    if ('failure' in checked) return this.commitFailure(execution, checked.failure, holder);
    try {
      const matched: MatchedArtifact[] = [];
      const complete = async () => {
        await this.match(execution, checked.drafts, matched);
        return this.outcomes.complete(execution, matched, holder.onOutcomeVisible);
      };
      const outcome = await persist(holder, this.clock, complete);
      return outcome === 'failed' ? { outcome, failure: { type: 'budget', message: 'it overran a budget' } } : { outcome };
    } catch (error) {
      this.logger.error({ err: error, execution_id: execution.id }, 'the outputs of an execution could not be stored');
      return this.commitFailure(execution, { type: 'internal', message: 'its outputs could not be stored' }, holder);
    }
  }

  private async commitFailure(
    execution: RunningExecution,
    failure: ExecutionFailure,
    holder: ClaimHolder,
  ): Promise<{ outcome: ExecutionOutcome; failure: ExecutionFailure }> {
    return { outcome: await persist(holder, this.clock, () => this.outcomes.failAttempt(execution, failure, holder.onOutcomeVisible)), failure };
  }

  private check(
    execution: ClaimedExecution,
    agent: AgentDefinition,
    attempt: AttemptResult,
  ): { drafts: ArtifactDraft[] } | { failure: ExecutionFailure } {
    if (!attempt.ok) return { failure: attempt.failure };
    try {
      const now = this.clock.now();
      return { drafts: checkOutputs(attempt.answer, agent, this.catalog).map((output) => this.draft(execution, agent, output, now)) };
    } catch (error) {
      // Whatever reading the answer throws is the answer's fault: getters and toJSON are the agent's own code.
      const message = error instanceof OutputError ? error.message : 'the answer cannot be read as JSON';
      return { failure: { type: 'output', message } };
    }
  }

  // Some at a time: a thousand outputs with a dozen predicates each would fill the evaluator's queue for everybody. What is
  // matched stays so when the rest has to be tried again.
  private async match(execution: ClaimedExecution, drafts: ArtifactDraft[], matched: MatchedArtifact[]): Promise<void> {
    const silent = (draft: ArtifactDraft): MatchedArtifact => ({ draft, releaseAt: null, triggered: [] });
    while (matched.length < drafts.length) {
      const next = drafts.slice(matched.length, matched.length + MATCHED_AT_ONCE);
      matched.push(...(await Promise.all(next.map((draft) => (execution.direct ? silent(draft) : this.publisher.match(draft))))));
    }
  }

  private draft(execution: ClaimedExecution, agent: AgentDefinition, checked: CheckedOutput, now: number): ArtifactDraft {
    return {
      id: newId(),
      type: checked.type.name,
      version: checked.type.version,
      payload: checked.payload,
      payloadText: checked.payloadText,
      producedBy: agent.name,
      visibility: checked.output.visibility,
      tags: checked.output.tags,
      partitionKey: null,
      correlationId: execution.correlationId,
      executionId: execution.id,
      createdAt: now,
    };
  }

  private report(execution: RunningExecution, { outcome, failure }: { outcome: ExecutionOutcome; failure?: ExecutionFailure }, ms: number): void {
    this.telemetry.executionEnded(execution.agent, outcome, ms);
    execution.span.end({
      attributes: { 'starling.execution.outcome': outcome, 'error.type': failure?.type },
      failed: failure !== undefined,
    });
    const fields = {
      agent: execution.agent,
      execution_id: execution.id,
      correlation_id: execution.correlationId,
      attempt: execution.attempt,
      ...traceOf(execution),
      outcome,
      duration_ms: Math.round(ms),
      ...(failure && { error_type: failure.type }),
    };
    this.logger.info(fields, 'execution');
    // The reason may quote a payload, which no log above debug may hold.
    if (failure) this.logger.debug({ ...fields, error_message: failure.message }, 'execution failed');
  }
}

/** For the log, so that its lines are found from a trace. */
const traceOf = ({ span: { traceparent } }: RunningExecution): { trace_id?: string } => (traceparent === null ? {} : { trace_id: traceIdOf(traceparent) });
