import { Inject, Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { laterTurn, scheduler } from '../../common/scheduler.js';
import { type AgentArtifact, type ExecutionContext, type InlineAnswer, PreparedEngines } from '../../engines/engine.js';
import { inputView } from '../matching/input-view.js';
import { AgentReaders } from '../queries/agent-reader.js';
import { InlineExperience } from './inline-experience.js';

/** An execution that is not stored yet. */
export interface InlineExecution {
  id: string;
  correlationId: string;
  agent: AgentDefinition;
  inputs: AgentArtifact[];
  /** The agent gets its inputs as a list. */
  batch: boolean;
}

/** The longest time of an answer. Others wait for it: the request and the event loop. */
const LONGEST_MS = 2;

type Answer = InlineAnswer | null;

/** Asks engines for answers before their executions are stored, as long as that is of use. */
@Injectable()
export class InlineAnswers {
  private readonly experiences = new Map<string, InlineExperience>();

  constructor(
    private readonly engines: PreparedEngines,
    private readonly readers: AgentReaders,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether the agent is asked about its next execution. Call `count` after it was asked. */
  asks({ name, concurrency }: AgentDefinition): boolean {
    return Boolean(this.engines.for(name)?.runInline) && this.experienceOf(name).tries(concurrency);
  }

  /** `isUseful`: whether the execution can be stored with the answer. */
  count({ name }: AgentDefinition, isUseful: boolean): void {
    this.experienceOf(name).count(isUseful);
  }

  /** Null if the agent fails, or does not answer within a turn of the event loop. */
  async of(execution: InlineExecution): Promise<(InlineAnswer & { isQuick: boolean }) | null> {
    const { agent, inputs, batch } = execution;
    const experience = this.experienceOf(agent.name);
    const abort = new AbortController();
    const startedAt = scheduler.elapsed();
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.engines.for(agent.name)!.runInline!({ artifacts: inputs, view: inputView(inputs, batch) }, () =>
        this.contextOf(execution, experience, abort.signal),
      );
    } catch {
      answer = null;
    }
    if (answer instanceof Promise) answer = await this.withinTurn(answer, experience, abort);
    if (answer === null || experience.hasEnded) return null;
    return { ...answer, isQuick: scheduler.elapsed() - startedAt <= LONGEST_MS };
  }

  private async withinTurn(
    answering: Promise<Answer>,
    experience: InlineExperience,
    abort: AbortController,
  ): Promise<Answer> {
    // An execution that fails runs again, and its failure is reported then.
    const ended = experience.during(answering.catch(() => null));
    const answer = await Promise.race([ended, laterTurn().then(() => 'late' as const)]);
    if (answer !== 'late') {
      experience.answered();
      return answer;
    }
    experience.end();
    abort.abort(new DOMException('the agent has not answered immediately, and runs again', 'AbortError'));
    return null;
  }

  private contextOf(
    { id, correlationId, agent }: InlineExecution,
    experience: InlineExperience,
    signal: AbortSignal,
  ): ExecutionContext {
    const { logger, readers } = this;
    let child: Logger | undefined;
    return {
      executionId: id,
      correlationId,
      attempt: 1,
      traceparent: null,
      signal,
      get blackboard() {
        experience.end();
        return readers.for(agent, correlationId);
      },
      get logger() {
        return (child ??= logger.child({ agent: agent.name, execution_id: id, correlation_id: correlationId }));
      },
    };
  }

  private experienceOf(agent: string): InlineExperience {
    let experience = this.experiences.get(agent);
    if (!experience) this.experiences.set(agent, (experience = new InlineExperience()));
    return experience;
  }
}
