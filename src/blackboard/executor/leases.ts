import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Settings } from '../../config/settings.js';
import { locking } from '../../database/dialects/dialect.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../signals/signals.js';
import { NO_SPAN } from '../../tracing/tracing.js';
import { isInState } from './known-state.js';
import { type EndingExecution, Outcomes } from './outcomes.js';
import { Workers } from './workers.js';

/** After this many lost leases an execution fails: one that crashes its process must not do so for ever. */
export const MAX_LOST_LEASES = 10;

const TAKEN_AT_ONCE = 100;

interface LostExecution {
  seq: number;
  id: string;
  agent: string;
  correlation_id: string;
  attempt: number;
  direct: number;
  lease_token: string;
  lost_leases: number;
}

/** Who holds which running execution: renewing our leases, and taking over those that another process lost. */
@Injectable()
export class Leases {
  constructor(
    private readonly settings: Settings,
    private readonly workers: Workers,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly outcomes: Outcomes,
    private readonly signals: Signals,
  ) {}

  /** This process, as the leases know it. */
  private get owner(): string {
    return this.workers.own;
  }

  /** A lease taken now. */
  next(): { owner: string; until: number } {
    return { owner: this.owner, until: this.clock.now() + this.settings.leaseMs };
  }

  /** Renews the leases of these executions; whatever else is held lapses, and is taken over like a dead process's. */
  async renew(executionIds: string[]): Promise<void> {
    if (executionIds.length === 0) return;
    const { owner, until } = this.next();
    await this.unitOfWork.run((tx) =>
      tx.db
        .updateTable('executions')
        .set({ lease_until: until })
        .where(isInState('running'))
        .where('lease_owner', '=', owner)
        .where('id', 'in', executionIds)
        .execute(),
      { redoable: true },
    );
  }

  /** Takes over what runs under a lease that nobody renews; ends when none is left. A lost lease repeats the same attempt. */
  async takeOverLost(): Promise<number> {
    let taken = 0;
    for (;;) {
      const count = await this.unitOfWork.run((tx) => this.takeOverSome(tx));
      taken += count;
      if (count < TAKEN_AT_ONCE) return taken;
    }
  }

  /**
   * Gives back what this process holds, but for `kept`: no lease lost, the same attempt again. At the end of its shutdown grace, or
   * where it does not know what it has claimed.
   */
  async handBack(kept: readonly string[] = []): Promise<number> {
    const handedBack = await this.unitOfWork.run((tx) =>
      tx.db
        .updateTable('executions')
        .set(PENDING)
        .where('state', '=', sql.lit('running' as const))
        .where('lease_owner', '=', this.owner)
        .$if(kept.length > 0, (held) => held.where('id', 'not in', kept))
        .returning('agent')
        .execute(),
    );
    for (const agent of new Set(handedBack.map((execution) => execution.agent))) this.signals.executionReturned.publishEverywhere(agent);
    return handedBack.length;
  }

  /** Fails what waits for an agent that no process's configuration has any more: it would wait for ever, unseen. */
  async failRemovedAgents(): Promise<number> {
    const orphans = await this.orphans();
    let failed = 0;
    for (let start = 0; start < orphans.length; start += TAKEN_AT_ONCE) {
      const some = orphans.slice(start, start + TAKEN_AT_ONCE);
      failed += await this.unitOfWork.run((tx) => this.failSome(tx, some));
    }
    return failed;
  }

  /** Positions of what waits for agents that are not there. Looked for once: each look reads all that waits for the others too. */
  private async orphans(): Promise<number[]> {
    const agents = [...(await this.workers.knownAgents())];
    let query = this.unitOfWork.reader.selectFrom('executions').select('seq').where('state', '=', sql.lit('pending' as const));
    if (agents.length > 0) query = query.where('agent', 'not in', agents);
    // Two queries, since each reads its partial index and one over both would read the whole table.
    const ready = await query.where('available_at', 'is', null).execute();
    const retrying = await query.where('available_at', 'is not', null).execute();
    return [...ready, ...retrying].map(({ seq }) => seq);
  }

  private async failSome(tx: Transaction, positions: number[]): Promise<number> {
    // Those that still wait: another process may know their agent.
    const waiting = tx.db
      .selectFrom('executions')
      .select(LOST_COLUMNS)
      .where('seq', 'in', positions)
      .where('state', '=', sql.lit('pending' as const));
    const orphans = await locking(tx.db, waiting, { wait: false }).execute();
    for (const orphan of orphans) {
      const leaseToken = newId();
      await tx.db.updateTable('executions').set({ state: 'running', lease_token: leaseToken, attempt_started_at: null }).where('id', '=', orphan.id).execute();
      await this.outcomes.fail(tx, await ending(tx, { ...orphan, lease_token: leaseToken }), {
        type: 'agent_removed',
        message: `the configuration has no agent ${orphan.agent} any more`,
      });
    }
    return orphans.length;
  }

  private async takeOverSome(tx: Transaction): Promise<number> {
    const { exclusive } = this.unitOfWork.dialect;
    const lapsed = tx.db
      .selectFrom('executions')
      .select(LOST_COLUMNS)
      .where('state', '=', sql.lit('running' as const))
      .where(({ eb, or }) => {
        const lapsed = eb('lease_until', '<', this.clock.now());
        return exclusive ? or([lapsed, eb('lease_owner', '!=', this.owner)]) : lapsed;
      })
      .limit(TAKEN_AT_ONCE);
    const lost = (await locking(tx.db, lapsed, { wait: false }).execute()) as LostExecution[];
    for (const execution of lost) await this.takeOver(tx, execution);
    return lost.length;
  }

  private async takeOver(tx: Transaction, lost: LostExecution): Promise<void> {
    const lostLeases = lost.lost_leases + 1;
    if (lostLeases >= MAX_LOST_LEASES) {
      await this.outcomes.fail(tx, await ending(tx, lost), {
        type: 'lost',
        message: `its lease was lost ${lostLeases} times: the process that ran it ended, or could not store its outcome`,
      });
      return;
    }
    await tx.db
      .updateTable('executions')
      .set({ ...PENDING, lost_leases: lostLeases })
      .where('id', '=', lost.id)
      .where('lease_token', '=', lost.lease_token)
      .execute();
    tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(lost.agent));
  }
}

const LOST_COLUMNS = ['seq', 'id', 'agent', 'correlation_id', 'attempt', 'direct', 'lease_token', 'lost_leases'] as const;

const PENDING = { state: 'pending', available_at: null, lease_token: null, lease_owner: null, lease_until: null } as const;

async function ending(tx: Transaction, lost: Omit<LostExecution, 'lease_token'> & { lease_token: string }): Promise<EndingExecution> {
  const inputs = await tx.db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['artifacts.seq', 'artifacts.id'])
    .where('execution_inputs.execution_id', '=', lost.id)
    .orderBy('execution_inputs.position')
    .execute();
  return {
    id: lost.id,
    agent: lost.agent,
    correlationId: lost.correlation_id,
    attempt: lost.attempt,
    direct: lost.direct === 1,
    leaseToken: lost.lease_token,
    inputs,
    span: NO_SPAN,
  };
}
