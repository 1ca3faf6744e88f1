import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { isReplay, type TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { BatchWindows } from '../joins/batch-windows.js';
import { Joins } from '../joins/joins.js';
import { boundedKey, keyIn, type KeyOwner, lockKeysOf, WINDOW_KEY } from '../joins/lock-keys.js';
import { isJoin, type Triggered } from '../matching/matcher.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';

interface TriggeringArtifact {
  seq: number;
  type: string;
  /** Set if the transaction has just stored it. */
  input?: ExecutionInput;
}

/** Adds a stored artifact to the executions, joins and batch windows of the subscriptions that it triggers. */
@Injectable()
export class Triggering {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly executions: ExecutionQueue,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
  ) {}

  /** The names that a transaction locks before it calls `start`. `owner`: the artifact's correlation. */
  lockKeys(triggered: readonly Triggered[], owner: KeyOwner): string[] {
    return lockKeysOf(triggered, owner, this.numbers);
  }

  async start(
    tx: Transaction,
    changes: CorrelationChanges,
    { seq, type, input }: TriggeringArtifact,
    correlation: TrackedCorrelation,
    triggered: readonly Triggered[],
  ): Promise<void> {
    const artifact = { seq, type, correlationId: correlation.id };
    const owner = { id: correlation.id, isReplay: isReplay(correlation) };
    for (const { subscription, key, queueValues } of triggered) {
      if (subscription.batch)
        await this.windows.arrive(tx, changes, subscription, { ...artifact, key: keyIn(owner, WINDOW_KEY) });
      else if (isJoin(subscription))
        await this.joins.arrive(tx, changes, subscription, { ...artifact, key: keyIn(owner, boundedKey(key)) });
      else {
        const known = input && [input];
        const execution = { subscription, correlation, inputs: [seq], known, queueValues, direct: false };
        await this.executions.add(tx, changes, execution);
      }
    }
  }
}
