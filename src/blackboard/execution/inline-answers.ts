import { Inject, Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { laterTurn, scheduler } from '../../common/scheduler.js';
import { type AgentArtifact, type ExecutionContext, type InlineAnswer, PreparedEngines } from '../../engines/engine.js';
import { inputView } from '../matching/input-view.js';
import { AgentReaders } from '../queries/agent-reader.js';

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
/** After as many longer answers in a row, the agent runs inline no more. A single one may be due to a pause of the process. */
const MOST_LONG_ANSWERS = 3;

type Answer = InlineAnswer | null;

/** The inline runs of an agent until now. */
interface Experience {
  /** Whether it has answered within a turn of the event loop. Until then, one of its executions is tried at a time. */
  hasAnswered: boolean;
  /** Whether it has once not answered within a turn, or has read the blackboard, on which its inputs are not stored yet. */
  needsClaim: boolean;
  longAnswers: number;
  running: number;
}

/** Asks engines for answers before their executions are stored. An agent that turns out to be slow is asked no more. */
@Injectable()
export class InlineAnswers {
  private readonly experiences = new Map<string, Experience>();

  constructor(
    private readonly engines: PreparedEngines,
    private readonly readers: AgentReaders,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether the agent may be asked. */
  mayAsk({ name, concurrency }: AgentDefinition): boolean {
    if (!this.engines.for(name)?.runInline) return false;
    const { hasAnswered, needsClaim, longAnswers, running } = this.experienceOf(name);
    return !needsClaim && longAnswers < MOST_LONG_ANSWERS && running < (hasAnswered ? concurrency : 1);
  }

  /** Null if the agent fails, or does not answer within a turn of the event loop. */
  async of(execution: InlineExecution): Promise<InlineAnswer | null> {
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
    experience.longAnswers = scheduler.elapsed() - startedAt > LONGEST_MS ? experience.longAnswers + 1 : 0;
    return experience.needsClaim ? null : answer;
  }

  private async withinTurn(
    answering: Promise<Answer>,
    experience: Experience,
    abort: AbortController,
  ): Promise<Answer> {
    experience.running += 1;
    // An execution that fails runs again, and its failure is reported then.
    const ended = answering.catch(() => null).finally(() => (experience.running -= 1));
    const answer = await Promise.race([ended, laterTurn().then(() => 'late' as const)]);
    if (answer !== 'late') {
      experience.hasAnswered = true;
      return answer;
    }
    experience.needsClaim = true;
    abort.abort(new DOMException('the agent has not answered immediately, and runs again', 'AbortError'));
    return null;
  }

  private contextOf(
    { id, correlationId, agent }: InlineExecution,
    experience: Experience,
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
        experience.needsClaim = true;
        return readers.for(agent, correlationId);
      },
      get logger() {
        return (child ??= logger.child({ agent: agent.name, execution_id: id, correlation_id: correlationId }));
      },
    };
  }

  private experienceOf(agent: string): Experience {
    let experience = this.experiences.get(agent);
    if (!experience)
      this.experiences.set(agent, (experience = { hasAnswered: false, needsClaim: false, longAnswers: 0, running: 0 }));
    return experience;
  }
}
