import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { isReplay, type TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { BatchWindows } from '../joins/batch-windows.js';
import { Joins } from '../joins/joins.js';
import { groupKeyOf, lockKeysOf } from '../joins/lock-keys.js';
import { hasWindow, isJoin, type Triggered } from '../matching/matcher.js';
import type { Reactions } from '../matching/matching.js';
import { keyIn, type KeyOwner } from '../matching/replay-keys.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { CancelRequests } from '../scheduling/cancel-requests.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import type { InlineContext, InlineRun } from '../scheduling/inline-run.js';
import { Singletons } from '../scheduling/singletons.js';

interface TriggeringArtifact {
  seq: number;
  id: string;
  type: string;
  /** Set if the transaction has just stored it. */
  input?: ExecutionInput;
  /** The answer of `findBlockedKeys`, if the caller has asked. */
  blockedKeys?: ReadonlySet<string>;
  /** The executions that it triggers whose agents have answered already. */
  inline?: ReadonlyMap<Subscription, InlineRun>;
  /** Belongs to `inline`. */
  inlineContext?: InlineContext | null;
}

/**
 * Adds a stored artifact to the executions, joins and batch windows of the subscriptions that it triggers, and requests
 * what it cancels.
 */
@Injectable()
export class Triggering {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly executions: ExecutionQueue,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
    private readonly cancelRequests: CancelRequests,
    private readonly singletons: Singletons,
  ) {}

  /** The names that a transaction locks before it calls `start`. `owner`: the artifact's correlation. */
  lockKeys(triggered: readonly Triggered[], owner: KeyOwner): string[] {
    return [...lockKeysOf(triggered, owner, this.numbers), ...this.singletons.lockNames(triggered, owner)];
  }

  /** See `ExecutionQueue.findBlockedKeys`. Joins and windows ask when they add an execution. */
  findBlockedKeys(tx: Transaction, triggered: readonly Triggered[]): Promise<ReadonlySet<string>> {
    return this.executions.findBlockedKeys(
      tx,
      triggered.filter(({ subscription }) => !hasWindow(subscription) && !isJoin(subscription)),
    );
  }

  async start(
    tx: Transaction,
    changes: CorrelationChanges,
    { seq, id, type, input, blockedKeys, inline, inlineContext }: TriggeringArtifact,
    correlation: TrackedCorrelation,
    { triggered, cancels }: Reactions,
  ): Promise<void> {
    const artifact = { seq, type, correlationId: correlation.id };
    const owner = { id: correlation.id, isReplay: isReplay(correlation) };
    // Before its own executions, so that it does not cancel these.
    if (cancels.length > 0) await this.cancelRequests.add(tx, changes.now, owner, id, cancels);
    for (const each of triggered) {
      const { subscription, queueValues } = each;
      const gathering = hasWindow(subscription) ? this.windows : isJoin(subscription) ? this.joins : null;
      if (gathering)
        await gathering.arrive(tx, changes, subscription, { ...artifact, key: keyIn(owner, groupKeyOf(each)) });
      else {
        await this.executions.add(tx, changes, {
          subscription,
          correlation,
          inputs: [seq],
          known: input && [input],
          queueValues,
          blockedKeys,
          inline: inline?.get(subscription),
          inlineContext,
          direct: false,
        });
      }
    }
  }
}
