import { Injectable } from '@nestjs/common';

import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Cancel } from '../matching/cancel-keys.js';
import { keyIn, type KeyOwner } from '../matching/replay-keys.js';
import { insertRequest, insertSingletonRequest } from './cancel-request-rows.js';
import { TimerQueue } from './timer-queue.js';

/**
 * Requests that executions are cancelled, in the transaction that offers an artifact to its subscriptions. A timer that
 * is due immediately cancels them: they may be many, and a transaction that locks the artifact's correlation must not
 * lock theirs.
 */
@Injectable()
export class CancelRequests {
  constructor(private readonly timers: TimerQueue) {}

  /** Executions that are added later are not cancelled. `owner`: the artifact's correlation. */
  async add(
    tx: Transaction,
    now: number,
    owner: KeyOwner,
    artifactId: string,
    cancels: readonly Cancel[],
  ): Promise<void> {
    for (const { agent, key } of cancels) {
      const request = { id: newId(), agent, cancel_key: keyIn(owner, key), artifact_id: artifactId };
      const id = await insertRequest(tx, request);
      if (id !== undefined) await this.timers.set(tx, 'cancel', now, id);
    }
  }

  /** Cancels the executions up to this position that have the key of `singleton`. `artifactId`: what cancels them. */
  async addForSingleton(
    tx: Transaction,
    now: number,
    { agent, key, upToSeq, artifactId }: { agent: string; key: string; upToSeq: number; artifactId: string },
  ): Promise<void> {
    const id = newId();
    await insertSingletonRequest(tx, { id, agent, cancel_key: key, up_to_seq: upToSeq, artifact_id: artifactId });
    await this.timers.set(tx, 'cancel', now, id);
  }
}
