import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { prepared } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';

/** The name that a process locks (`Transaction.lock`) while it claims executions of an agent. */
export const claimLockKey = (agent: string): string => `claim ${agent}`;

/** Paused agents: no process starts their executions until they are resumed. A pause survives restarts. */
@Injectable()
export class AgentPauses {
  constructor(
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  /** After the commit no process claims an execution of the agent. Returns since when it is paused (epoch ms). */
  async pause(tx: Transaction, agent: string): Promise<number> {
    // Waits for claims that have already read the pauses; later claims see this one.
    await tx.lock([claimLockKey(agent)]);
    const { paused_at } = await tx.db
      .insertInto('agent_pauses')
      .values({ agent, paused_at: this.clock.now() })
      .onConflict((conflict) =>
        conflict.column('agent').doUpdateSet(({ ref }) => ({ paused_at: ref('agent_pauses.paused_at') })),
      )
      .returning('paused_at')
      .executeTakeFirstOrThrow();
    return paused_at;
  }

  async resume(tx: Transaction, agent: string): Promise<void> {
    await tx.db.deleteFrom('agent_pauses').where('agent', '=', agent).execute();
    tx.afterCommit(() => this.signals.executionReturned.publishEverywhere(agent));
  }

  /** Agent → since when it is paused (epoch ms). */
  async all(db: Reader): Promise<Map<string, number>> {
    const rows = await findAll(db, {});
    return new Map(rows.map(({ agent, paused_at }) => [agent, paused_at]));
  }
}

const findAll = prepared<object, { agent: string; paused_at: number }>((db) =>
  db.selectFrom('agent_pauses').selectAll(),
);
