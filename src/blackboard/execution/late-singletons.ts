import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { holdWithoutKeys, type TurnPlace } from '../limits/keyless-rows.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { turnText } from '../limits/singleton-turns.js';
import { findFirstInput } from '../scheduling/singleton-rows.js';
import { Singletons } from '../scheduling/singletons.js';
import { CancelledExecutions } from './cancelled-executions.js';

const FREE: TurnPlace = { available_at: null, blocked_on: null, singleton_waits: 0 };

/** A stored execution whose key of `singleton` has just been computed. */
interface Late {
  id: string;
  seq: number;
  agent: string;
  correlation_id: string;
  /** In the form of `executions.singleton_key`. */
  key: string | null;
}

/** Gives executions whose keys are computed after they were queued their turns of `singleton`. */
@Injectable()
export class LateSingletons {
  constructor(
    private readonly singletons: Singletons,
    private readonly cancelled: CancelledExecutions,
    private readonly releases: LimitReleases,
  ) {}

  /** The names that the transaction of `placeOf` locks first. */
  lockNames(agent: string, key: string | null): string[] {
    return this.singletons.lockName(agent, key);
  }

  /** Returns where the execution waits, if it does. Null if it has ended, or ends here. The caller saves the changes. */
  async placeOf(tx: Transaction, changes: CorrelationChanges, late: Late): Promise<TurnPlace | null> {
    const { id, seq, agent, key } = late;
    if (key === null) return FREE;
    // Otherwise one that was cancelled meanwhile could cancel others.
    const held = await holdWithoutKeys(tx, id);
    if (!held) return null;
    // Retried by hand, it waits for its turn whatever the rule says, as one whose key is known does.
    if (held.round > 0) return this.waitAgain(tx, turnText(agent, key));
    const firstInput = () => findFirstInput(tx, id);
    const turn = await this.singletons.arrive(tx, changes.now, { agent, key, known: { id, seq }, firstInput });
    switch (turn.kind) {
      case 'next':
        return FREE;
      case 'waits':
        return waitingFor(turn.blockedOn);
      case 'skipped':
        await this.cancelled.cancel(tx, changes, [late], { skipped_for: turn.execution });
        return null;
      case 'cancelled':
        await this.cancelled.cancel(tx, changes, [late], { cancelled_by: turn.artifact });
        return null;
    }
  }

  /** Another execution may have the turn now: the loop that passes turns on looks. */
  private waitAgain(tx: Transaction, blockedOn: string): TurnPlace {
    tx.afterCommit(() => this.releases.waits([blockedOn]));
    return waitingFor(blockedOn);
  }
}

const waitingFor = (blockedOn: string): TurnPlace => ({
  available_at: NEVER,
  blocked_on: blockedOn,
  singleton_waits: 1,
});
