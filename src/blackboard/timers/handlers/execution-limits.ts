import { Injectable } from '@nestjs/common';

import { Catalog } from '../../../catalog/catalog.js';
import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import { Signals } from '../../../pubsub/signals.js';
import { artifactFromRow } from '../../artifacts/artifact.js';
import type { CorrelationChanges } from '../../correlations/correlation-tracker.js';
import { endingExecution } from '../../execution/ending-execution.js';
import { FailedAttempts } from '../../execution/failed-attempts.js';
import { leaseToEnd } from '../../execution/lease-rows.js';
import { findInputArtifacts, findWithoutKeys, holdWithoutKeys, setKeys } from '../../limits/keyless-rows.js';
import { LIMIT_KEY, LimitKeys } from '../../matching/limit-keys.js';
import { Backlog } from '../../scheduling/backlog.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';
import { TimerMemory } from '../timer-memory.js';

/**
 * Computes the keys of an execution's limits and makes it claimable. It fails where an expression fails. The subject is
 * the execution's id.
 */
@Injectable()
export class ExecutionLimits implements TimerHandler {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly limitKeys: LimitKeys,
    private readonly failedAttempts: FailedAttempts,
    private readonly backlog: Backlog,
    private readonly memory: TimerMemory,
    private readonly signals: Signals,
  ) {}

  async prepare({ subject: id }: Timer): Promise<TimerWork | NotHere> {
    const { reader } = this.unitOfWork;
    const execution = await findWithoutKeys(reader, id);
    if (!execution) return NOTHING;
    const { agent, correlation_id, batch, bytes } = execution;
    if (!this.catalog.agent(agent)) return { needs: { agent, subscription: null } };
    const found = await this.memory.forPayloads(bytes, async () =>
      this.limitKeys.of(agent, (await findInputArtifacts(reader, id)).map(artifactFromRow), batch === 1),
    );
    return {
      lockKeys: [],
      correlationId: correlation_id,
      run: (tx, changes) =>
        'keys' in found ? this.store(tx, id, found.keys) : this.fail(tx, changes, id, found.problem),
    };
  }

  private async store(tx: Transaction, id: string, keys: string | null): Promise<void> {
    const agent = await setKeys(tx, id, keys);
    if (agent !== undefined) tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(agent));
  }

  private async fail(tx: Transaction, changes: CorrelationChanges, id: string, message: string): Promise<void> {
    const execution = await holdWithoutKeys(tx, id);
    if (!execution) return;
    if (this.backlog.counts(execution.queue)) this.backlog.changed(tx, -1);
    const ending = await endingExecution(tx.db, execution, await leaseToEnd(tx, id));
    await this.failedAttempts.failWith(tx, changes, ending, { type: LIMIT_KEY, message });
  }
}
