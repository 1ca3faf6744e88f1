import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import { configurationKey, type ReplayConfiguration } from '../../catalog/replay-configuration.js';
import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import { agentArtifactFromDraft } from '../artifacts/execution-input.js';
import { type KeyedExecution, KeyShares } from '../fairness/key-shares.js';
import { QueueExpressions } from '../matching/queue-expressions.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { Backlog } from '../scheduling/backlog.js';
import type { Invocation } from './invocations.js';
import type { MatchedArtifact } from './matched-artifacts.js';

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
   * Calls `store`, which stores an artifact and the executions that it triggers. Throws DomainError `unavailable` if one of them
   * has a key that has its share of the waiting executions, also if a window with `debounce` queues it later.
   */
  async withinShares<T>({ draft, triggered }: MatchedArtifact, store: () => Promise<T>): Promise<T> {
    const shared = triggered.filter(({ subscription: { agent } }) => this.keyShares.has(agent));
    const keyed = shared.flatMap(({ subscription: { agent }, queueValues }) => {
      const key = queueValues?.fair_key ?? null;
      return key === null ? [] : [{ agent, key }];
    });
    for (const { subscription } of shared)
      if (subscription.debounce !== null)
        await this.keyShares.refuseFull(await this.keyOf(subscription, [draft], false), this.backlog.count);
    return this.keyShares.within(keyed, this.backlog.count, store);
  }

  /** The same for an execution that a caller requests by the agent's name. Call it before a transaction. */
  async withinShare<T>({ subscription, drafts }: Invocation, store: () => Promise<T>): Promise<T> {
    const { agent, batch } = subscription;
    if (!this.keyShares.has(agent)) return store();
    return this.keyShares.within(await this.keyOf(subscription, drafts, batch !== null), this.backlog.count, store);
  }

  private async keyOf(
    subscription: Subscription,
    drafts: readonly ArtifactDraft[],
    batch: boolean,
  ): Promise<KeyedExecution[]> {
    const found = await this.queueExpressions.of(subscription, drafts.map(agentArtifactFromDraft), batch);
    // If an expression fails, the execution is queued and fails with the reason.
    const key = 'values' in found ? found.values.fair_key : null;
    return key === null ? [] : [{ agent: subscription.agent, key }];
  }
}
