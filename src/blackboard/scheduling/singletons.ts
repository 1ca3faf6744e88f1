import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { turnLock, turnText } from '../limits/singleton-turns.js';
import type { Triggered } from '../matching/matcher.js';
import { keyIn, type KeyOwner } from '../matching/replay-keys.js';
import { CancelRequests } from './cancel-requests.js';
import { findFirstInput, findNewestOpen, type PlacedExecution } from './singleton-rows.js';

/** The decision about an execution that is queued with a key of `singleton`. */
export type Turn =
  /** It has the turn of its key. */
  | { kind: 'next' }
  /** `blockedOn`: what it waits for, in the form of `executions.blocked_on`. */
  | { kind: 'waits'; blockedOn: string }
  /** `execution`: the one that has not ended. */
  | { kind: 'skipped'; execution: string }
  /** `artifact`: the first input of a newer execution. */
  | { kind: 'cancelled'; artifact: string };

const NEXT: Turn = { kind: 'next' };

/** An execution that is queued. `known`: set if it is stored already, because its key was computed later. */
export interface Queued {
  agent: string;
  /** The value of `executions.singleton_key`. */
  key: string | null;
  known: PlacedExecution | null;
  /** Returns the id of its first input. */
  firstInput: () => Promise<string>;
}

/**
 * Gives the turns of `singleton`: of the executions of an agent and a key that have not ended, one has its turn, and the
 * others wait. Callers lock `lockNames` first, as the loop that passes turns on does, so that this holds for all processes.
 */
@Injectable()
export class Singletons {
  constructor(
    private readonly catalog: Catalog,
    private readonly cancelRequests: CancelRequests,
    private readonly releases: LimitReleases,
  ) {}

  /** The names that a transaction locks before it adds these executions, in a correlation of `owner`. */
  lockNames(triggered: readonly Triggered[], owner: KeyOwner): string[] {
    return triggered.flatMap(({ subscription: { agent }, queueValues }) =>
      queueValues?.singleton_key ? this.lockName(agent, keyIn(owner, queueValues.singleton_key)) : [],
    );
  }

  lockName(agent: string, key: string | null): string[] {
    return key === null ? [] : [turnLock(agent, key)];
  }

  /** Decides when an execution starts, and requests that it cancels others if the agent is configured so. */
  async arrive(tx: Transaction, now: number, { agent, key, known, firstInput }: Queued): Promise<Turn> {
    const rule = this.catalog.agent(agent)?.singleton;
    if (!rule || key === null) return NEXT;
    const newest = await findNewestOpen(tx, { agent, key, except: known?.id ?? null });
    if (!newest) return NEXT;
    if (rule.onConflict === 'skip') return { kind: 'skipped', execution: newest.id };
    if (rule.onConflict === 'cancel_running') {
      // A newer execution whose key was known before cancels this one, as if the keys had been known in their order.
      if (known && newest.seq > known.seq) return { kind: 'cancelled', artifact: await findFirstInput(tx, newest.id) };
      const request = { agent, key, upToSeq: newest.seq, artifactId: await firstInput() };
      await this.cancelRequests.addForSingleton(tx, now, request);
    }
    const blockedOn = turnText(agent, key);
    // The other one may end before the commit: the loop that passes turns on does not see this one then.
    tx.afterCommit(() => this.releases.waits([blockedOn]));
    return { kind: 'waits', blockedOn };
  }
}
