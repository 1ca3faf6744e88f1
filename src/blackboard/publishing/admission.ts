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

  /** Throws DomainError `unavailable` if one of the executions has a key that has its share of the waiting executions. */
  async refuseExcessOfKeys(triggered: readonly Triggered[]): Promise<void> {
    for (const { subscription, queueValues } of triggered) {
      const key = queueValues?.fair_key ?? null;
      if (key !== null) await this.keyShares.refuseExcess(subscription.agent, key, this.backlog.count);
    }
  }

  /** Throws the same for an execution that a caller requests by the agent's name. Call it before a transaction. */
  async refuseExcessOfKey({ subscription, drafts }: Invocation): Promise<void> {
    const { agent, batch } = subscription;
    // Mostly, fewer executions wait than one key may have, and no expression is evaluated.
    if (!this.keyShares.mayRefuse(agent, this.backlog.count)) return;
    const found = await this.queueExpressions.of(subscription, drafts.map(agentArtifactFromDraft), batch !== null);
    // If an expression fails, the execution is queued and fails with the reason.
    const key = 'values' in found ? found.values.fair_key : null;
    if (key !== null) await this.keyShares.refuseExcess(agent, key, this.backlog.count);
  }
}
