import { Injectable } from '@nestjs/common';

import { configurationKey, type ReplayConfiguration } from '../../catalog/replay-configuration.js';
import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { agentArtifactFromDraft } from '../artifacts/execution-input.js';
import { KeyShares } from '../fairness/key-shares.js';
import type { Triggered } from '../matching/matcher.js';
import { QueueExpressions } from '../matching/queue-expressions.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { Backlog } from '../scheduling/backlog.js';
import type { Invocation } from './invocations.js';

const RETRY_AFTER_SECONDS = 5;

/** Decides whether this process accepts new work. */
@Injectable()
export class Admission {
  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly backlog: Backlog,
    private readonly pauses: AgentPauses,
    private readonly keyShares: KeyShares,
    private readonly queueExpressions: QueueExpressions,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Throws DomainError `unavailable` if too much work is waiting or the process stops. */
  async refuseWhenBusy(): Promise<void> {
    if (this.lifecycle.stopping) {
      throw new DomainError('unavailable', 'The service is shutting down; try again', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    // Executions of paused agents count too, so the refusal names these agents: resuming them makes room.
    if (this.backlog.isFull) this.backlog.refuse([...(await this.pauses.all(this.unitOfWork.reader)).keys()]);
  }

  /** Throws DomainError `unavailable` if `refuseWhenBusy` does, or if too many replays wait for their configurations. */
  async refuseReplayWhenBusy(configuration: ReplayConfiguration | null): Promise<void> {
    await this.refuseWhenBusy();
    if (configuration !== null) this.backlog.refuseWithoutConfiguration(configurationKey(configuration));
  }

  /**
   * Calls `store`, which stores these executions. Throws DomainError `unavailable` if one of them has a key that has its share
   * of the waiting executions.
   */
  withinShares<T>(triggered: readonly Triggered[], store: () => Promise<T>): Promise<T> {
    const keyed = triggered.flatMap(({ subscription: { agent }, queueValues }) => {
      const key = queueValues?.fair_key ?? null;
      return key === null || !this.keyShares.has(agent) ? [] : [{ agent, key }];
    });
    return this.keyShares.within(keyed, this.backlog.count, store);
  }

  /** The same for an execution that a caller requests by the agent's name. Call it before a transaction. */
  async withinShare<T>({ subscription, drafts }: Invocation, store: () => Promise<T>): Promise<T> {
    const { agent, batch } = subscription;
    if (!this.keyShares.has(agent)) return store();
    const found = await this.queueExpressions.of(subscription, drafts.map(agentArtifactFromDraft), batch !== null);
    // If an expression fails, the execution is queued and fails with the reason.
    const key = 'values' in found ? found.values.fair_key : null;
    return this.keyShares.within(key === null ? [] : [{ agent, key }], this.backlog.count, store);
  }
}
