import { Injectable } from '@nestjs/common';

import { Catalog } from '../../../catalog/catalog.js';
import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import { Signals } from '../../../pubsub/signals.js';
import { artifactFromRow } from '../../artifacts/artifact.js';
import type { CorrelationChanges } from '../../correlations/correlation-tracker.js';
import { endingExecution } from '../../execution/ending-execution.js';
import { FailedAttempts } from '../../execution/failed-attempts.js';
import { LateSingletons } from '../../execution/late-singletons.js';
import { leaseToEnd } from '../../execution/lease-rows.js';
import { findInputArtifacts, findWithoutKeys, holdWithoutKeys, setQueueValues } from '../../limits/keyless-rows.js';
import { QueueExpressions } from '../../matching/queue-expressions.js';
import { keysIn, type QueueProblem, type QueueValues } from '../../matching/queue-values.js';
import { Backlog } from '../../scheduling/backlog.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';
import { TimerMemory } from '../timer-memory.js';

/**
 * Evaluates what an execution is queued with, such as the keys of its limits, and makes it claimable. It fails where an expression fails. The subject is
 * the execution's id.
 */
@Injectable()
export class ExecutionLimits implements TimerHandler {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly queueExpressions: QueueExpressions,
    private readonly failedAttempts: FailedAttempts,
    private readonly singletons: LateSingletons,
    private readonly backlog: Backlog,
    private readonly memory: TimerMemory,
    private readonly signals: Signals,
  ) {}

  async prepare({ subject: id }: Timer): Promise<TimerWork | NotHere> {
    const { reader } = this.unitOfWork;
    const execution = await findWithoutKeys(reader, id);
    if (!execution) return NOTHING;
    const { seq, agent, subscription, correlation_id, replay, batch, bytes } = execution;
    const definition = this.catalog.agent(agent);
    if (!definition) return { needs: { agent, subscription: null } };
    // A newer configuration may not have the subscription.
    const priorityBy = definition.subscriptions[subscription]?.priorityBy ?? null;
    const found = await this.memory.forPayloads(bytes, async () =>
      this.queueExpressions.of(
        { agent, priorityBy },
        (await findInputArtifacts(reader, id)).map(artifactFromRow),
        batch === 1,
      ),
    );
    if ('problem' in found)
      return {
        lockKeys: [],
        correlationId: correlation_id,
        run: (tx, changes) => this.fail(tx, changes, id, found.problem),
      };
    const keys = keysIn({ id: correlation_id, isReplay: replay > 0 }, found.values);
    const values = { ...found.values, ...keys };
    return {
      lockKeys: this.singletons.lockNames(agent, keys.singleton_key),
      correlationId: correlation_id,
      run: (tx, changes) => this.store(tx, changes, { id, seq, agent, correlation_id }, values),
    };
  }

  private async store(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: { id: string; seq: number; agent: string; correlation_id: string },
    values: QueueValues,
  ): Promise<void> {
    const place = await this.singletons.placeOf(tx, changes, { ...execution, key: values.singleton_key });
    if (!place) return;
    const agent = await setQueueValues(tx, execution.id, values, place);
    if (agent !== undefined) tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(agent));
  }

  private async fail(tx: Transaction, changes: CorrelationChanges, id: string, problem: QueueProblem): Promise<void> {
    const execution = await holdWithoutKeys(tx, id);
    if (!execution) return;
    if (this.backlog.counts(execution)) this.backlog.changed(tx, -1);
    const ending = await endingExecution(tx.db, execution, await leaseToEnd(tx, id));
    await this.failedAttempts.failWith(tx, changes, ending, problem);
  }
}
