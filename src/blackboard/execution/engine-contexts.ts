import { Inject, Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import type { EngineContext } from '../../engines/engine.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import type { AttemptUsage } from '../budgets/attempt-usage.js';
import { type CallingExecution, ModelCalls } from '../budgets/model-calls.js';
import type { RecordedCall } from '../budgets/usages.js';
import { AgentReaders } from '../queries/agent-reader.js';
import { AnswerMemory } from './answer-memory.js';
import { Answers } from './answers.js';
import { traceOf } from './attempt-reports.js';
import type { CacheUse } from './cache-use.js';
import type { ClaimedExecution } from './claimed-execution.js';
import { outputEvents } from './execution-events.js';
import { outsideToken } from './lease-token.js';

/** A claimed execution while its attempt runs. Its context fills in what the attempt uses. */
export type RunningExecution = ClaimedExecution &
  CallingExecution & {
    readonly usage: AttemptUsage | null;
    toolCalls: RecordedCall[];
    answer: MemoryReservation | null;
    cache: CacheUse | null;
  };

/** Creates the contexts in which engines run. */
@Injectable()
export class EngineContexts {
  constructor(
    private readonly clock: Clock,
    private readonly readers: AgentReaders,
    private readonly modelCalls: ModelCalls,
    private readonly answers: Answers,
    private readonly answerMemory: AnswerMemory,
    private readonly liveEvents: LiveEvents,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  create(execution: RunningExecution, agent: AgentDefinition, signal: AbortSignal): EngineContext {
    const { logger } = this;
    const { correlationId } = execution;
    let child: Logger | undefined;
    return {
      executionId: execution.id,
      correlationId,
      attempt: execution.attempt,
      traceparent: execution.span.traceparent,
      get leaseToken() {
        return outsideToken(execution.leaseToken, execution.id);
      },
      signal,
      blackboard: this.readers.for(agent, correlationId),
      newest: (filter, except, mostCharacters) =>
        this.readers.newest({ agent, correlationId }, filter, except, mostCharacters),
      parses: async (text) => {
        execution.answer?.release();
        execution.answer = await this.answerMemory.forAnswer(text, signal);
      },
      refusal: (answer) => this.answers.problemOf(execution, agent, answer),
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
          correlation_id: correlationId,
          ...traceOf(execution),
        }));
      },
    };
  }
}
