import { Injectable } from '@nestjs/common';

import { Catalog } from '../../../catalog/catalog.js';
import type { AgentDefinition } from '../../../catalog/definitions.js';
import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import type { CorrelationChanges } from '../../correlations/correlation-tracker.js';
import { type EndingExecution, endingExecution, type ExecutionFailure } from '../../execution/ending-execution.js';
import { FailedAttempts } from '../../execution/failed-attempts.js';
import { leaseToEnd } from '../../execution/lease-rows.js';
import { Outcomes } from '../../execution/outcomes.js';
import { type MatchedArtifact, MatchedArtifacts } from '../../publishing/matched-artifacts.js';
import { copyAttempts } from '../../replays/record-rows.js';
import { RecordedAnswers } from '../../replays/recorded-answers.js';
import {
  countOutputBytes,
  findUnanswered,
  holdUnanswered,
  markRecorded,
  type RecordedAnswer,
  type Unanswered,
} from '../../replays/unanswered-rows.js';
import { Backlog } from '../../scheduling/backlog.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';
import { TimerMemory } from '../timer-memory.js';

interface End {
  /** Null if the record has no answer. */
  recorded: RecordedAnswer | null;
  outputs: MatchedArtifact[];
  /** Null if it completes. */
  failure: ExecutionFailure | null;
}

/**
 * Ends an execution of a shadow replay whose agent must not run: as it ended in the record, or as failed. The subject is
 * the execution's id.
 */
@Injectable()
export class RecordedEnd implements TimerHandler {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly answers: RecordedAnswers,
    private readonly artifacts: MatchedArtifacts,
    private readonly outcomes: Outcomes,
    private readonly failedAttempts: FailedAttempts,
    private readonly backlog: Backlog,
    private readonly memory: TimerMemory,
  ) {}

  async prepare({ subject: id }: Timer): Promise<TimerWork | NotHere> {
    const { reader } = this.unitOfWork;
    const execution = await findUnanswered(reader, id);
    if (!execution) return NOTHING;
    const { agent: name, correlation_id: correlationId } = execution;
    const agent = this.catalog.agent(name);
    if (!agent) return { needs: { agent: name, subscription: null } };
    const { configuration } = execution;
    if (configuration !== null && !this.catalog.replayKeys.includes(configuration)) return { needs: { configuration } };
    const end = await this.endOf(execution, agent);
    return {
      lockKeys: this.artifacts.lockKeys(end.outputs),
      correlationId,
      run: async (tx, changes) => {
        const held = await this.hold(tx, id);
        if (held) await this.end(tx, changes, held, end);
      },
    };
  }

  private async endOf(execution: Unanswered, agent: AgentDefinition): Promise<End> {
    const recorded = await this.answers.find(execution, agent, (bytes, work) => this.memory.forPayloads(bytes, work));
    if (!('id' in recorded)) return unanswered(recorded);
    if (recorded.state === 'failed') return { recorded, outputs: [], failure: failureOf(recorded) };
    const bytes = await countOutputBytes(this.unitOfWork.reader, recorded.id);
    const outputs = await this.memory.forPayloads(bytes, () => this.answers.outputsOf(recorded, execution, agent));
    return Array.isArray(outputs) ? { recorded, outputs, failure: null } : unanswered(outputs);
  }

  private async end(
    tx: Transaction,
    changes: CorrelationChanges,
    held: EndingExecution,
    { recorded, outputs, failure }: End,
  ): Promise<void> {
    const ending = recorded
      ? { ...held, attempt: recorded.attempt, definition: recorded.definition, variant: recorded.variant }
      : held;
    if (failure) await this.failedAttempts.failWith(tx, changes, ending, failure);
    else await this.outcomes.completeWith(tx, changes, ending, outputs);
    if (!recorded) return;
    await copyAttempts(tx.db, new Map([[recorded.id, held.id]]));
    await markRecorded(tx, held.id, recorded.round, changes.now);
  }

  /** Leases the execution in order to end it. Undefined if it has been cancelled. */
  private async hold(tx: Transaction, id: string): Promise<EndingExecution | undefined> {
    const execution = await holdUnanswered(tx, id);
    if (!execution) return undefined;
    if (this.backlog.counts(execution)) this.backlog.changed(tx, -1);
    return { ...(await endingExecution(tx.db, execution, await leaseToEnd(tx, id))), withoutRun: true };
  }
}

const unanswered = (failure: ExecutionFailure): End => ({ recorded: null, outputs: [], failure });

const failureOf = ({ error_type, error_message, error_cause, error_stack }: RecordedAnswer): ExecutionFailure => ({
  type: error_type!,
  message: error_message!,
  details: { cause: error_cause, stack: error_stack },
});
