import { setTimeout } from 'node:timers/promises';

import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { Telemetry } from '../../common/telemetry.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { externalWork, isExternal } from '../../engines/external/external-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { Signals } from '../../pubsub/signals.js';
import { columnsOf } from '../../queue/leased-table.js';
import { isInState } from '../../queue/state-predicate.js';
import { AgentLimits } from '../execution/agent-limits.js';
import { claimLockKey } from '../execution/agent-pauses.js';
import { type ClaimedExecution, Claims } from '../execution/claims.js';
import { executionEvent } from '../execution/execution-events.js';
import { outsideToken } from '../execution/lease-token.js';
import { type ExecutionRow, EXECUTIONS } from '../execution/leased-executions.js';
import { Backlog } from '../scheduling/backlog.js';
import type { AskedFor, ClaimOfOne, ClaimRequest, HeldExecution } from './claim-request.js';
import { releasedLease } from './released-lease.js';

const MISSED_TRIES = 3;
/** Other transactions end within milliseconds. */
const MISSED_PAUSE_MS = 5;
const IS_TOUCHED = 'another request is changing it now; try again';

/**
 * Claims executions of external agents for clients. Their lease lasts for the agent's `timeout` and has no owning
 * process, so the stop or start of a process does not affect it.
 */
@Injectable()
export class ExternalClaims {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly claims: Claims,
    private readonly limits: AgentLimits,
    private readonly backlog: Backlog,
    private readonly telemetry: Telemetry,
    private readonly liveEvents: LiveEvents,
    private readonly signals: Signals,
  ) {}

  /**
   * Throws like `check`, and also DomainError `invalid` if the agent assigns its executions and the request has no
   * assignee.
   */
  async checkRequest({ agents, assignee }: ClaimRequest): Promise<void> {
    this.check(agents, 'agents');
    if (assignee !== null) return;
    for (const name of agents) {
      const owner = externalWork(this.catalog.agent(name))!.assignee;
      // Executions that are older than the assignment in the configuration are unassigned. Only such a request can
      // claim them.
      if (owner !== null && !(await isSomeNobodys(this.unitOfWork.reader, name)))
        throw new DomainError(
          'invalid',
          `assignee: must name an assignee, because the configuration assigns the executions of ${name} (to ${owner})`,
        );
    }
  }

  /**
   * DomainError `not_found` if there is no such agent, `invalid` (the message begins with `what`) if it is not
   * external.
   */
  check(agents: readonly string[], what: string): void {
    for (const name of agents) {
      const agent = this.catalog.agent(name);
      if (!agent) throw unknownAgent(name);
      if (!isExternal(agent))
        throw new DomainError('invalid', `${what}: ${name} is not an external agent; its executions cannot be claimed`);
    }
  }

  /**
   * Returns those of `asked` that have waiting work. Many assignees may wait without any, and a claim for each of them
   * would lock the agent's queue. The query runs in a transaction, because a plain read may not see the commit that
   * caused the wake-up.
   */
  waitingAmong(asked: readonly AskedFor[]): Promise<AskedFor[]> {
    return this.unitOfWork.run((tx) => waitingAmong(tx, asked), { relaxedDurability: true });
  }

  /** Claims waiting executions in order of priority. An empty list if there are none. */
  async claim(request: ClaimRequest): Promise<HeldExecution[]> {
    for (let tries = 1; ; tries += 1) {
      const { held, missed } = await this.claimOnce(request);
      if (held.length > 0 || !missed || tries === MISSED_TRIES) return held;
      await setTimeout(MISSED_PAUSE_MS);
    }
  }

  async claimOne(id: string, agent: string, claimedBy: string | null): Promise<ClaimOfOne> {
    for (let tries = 1; ; tries += 1) {
      const claim = await this.unitOfWork.run((tx) => this.claimOneIn(tx, id, agent, claimedBy));
      if ('held' in claim || claim.whyNot !== IS_TOUCHED || tries === MISSED_TRIES) return claim;
      await setTimeout(MISSED_PAUSE_MS);
    }
  }

  /**
   * Puts executions back into the queue with the same attempt, without counting a lost lease: their client has
   * disconnected or released them. An execution with another lease is left unchanged.
   */
  async handBack(executions: readonly Pick<HeldExecution, 'id' | 'agent' | 'leaseToken'>[]): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      for (const { id, agent, leaseToken } of executions) {
        const { numUpdatedRows } = await tx.db
          .updateTable('executions')
          .set({
            state: 'pending',
            lease_token: null,
            lease_until: null,
            claimed_by: null,
            ended_lease: releasedLease(leaseToken),
          })
          .where('id', '=', id)
          .where('lease_token', '=', leaseToken)
          .executeTakeFirst();
        this.backlog.changed(tx, Number(numUpdatedRows));
        tx.afterCommit(() => this.signals.executionReturned.publishEverywhere(agent));
      }
    });
  }

  /** Rows of the agent that were skipped before may be ready again; null: those of any agent, after missed wake-ups. */
  resync(agent: string | null): void {
    if (agent === null) this.claims.unassigned.forget();
    else this.claims.unassigned.ready.returned(agent);
  }

  private claimOnce({
    agents,
    max,
    assignee,
    claimedBy,
  }: ClaimRequest): Promise<{ held: HeldExecution[]; missed: boolean }> {
    this.claims.unassigned.ready.look();
    return this.unitOfWork.run(async (tx) => {
      // Locked together: if the locks were taken one by one, two claims could wait for each other.
      await tx.lock(agents.map(claimLockKey));
      const now = this.clock.now();
      const held: HeldExecution[] = [];
      let someMissed = false;
      for (const agent of agents) {
        const left = max - held.length;
        if (left === 0) break;
        if (assignee === null) {
          const lease = this.lease(agent, now);
          const { claimed, missed } = await this.claims.claim(
            tx,
            { byQueue: new Map([[agent, left]]), total: left },
            lease,
            now,
            this.claims.unassigned,
          );
          someMissed ||= missed;
          held.push(...(await this.give(tx, claimed, lease.until, claimedBy, now)));
        } else {
          const found = await readyFor(tx, agent, assignee, left);
          held.push(...(await this.take(tx, found, agent, claimedBy, now)));
        }
      }
      return { held, missed: someMissed };
    });
  }

  private async claimOneIn(tx: Transaction, id: string, agent: string, claimedBy: string | null): Promise<ClaimOfOne> {
    const found = await readyOne(tx, id);
    const [held] = await this.take(tx, found, agent, claimedBy, this.clock.now());
    if (held) return { held };
    if (found.length === 0) return { whyNot: null };
    return { whyNot: (await this.limits.whyNone(tx, agent)) ?? IS_TOUCHED };
  }

  private async take(
    tx: Transaction,
    found: ExecutionRow[],
    agent: string,
    claimedBy: string | null,
    now: number,
  ): Promise<HeldExecution[]> {
    const lease = this.lease(agent, now);
    return this.give(tx, await this.claims.claimThese(tx, found, lease, now), lease.until, claimedBy, now);
  }

  private async give(
    tx: Transaction,
    claimed: ClaimedExecution[],
    leaseUntil: number,
    claimed_by: string | null,
    now: number,
  ): Promise<HeldExecution[]> {
    if (claimed.length === 0) return [];
    await tx.db
      .updateTable('executions')
      .set({ claimed_by })
      .where(
        'id',
        'in',
        claimed.map(({ id }) => id),
      )
      .execute();
    tx.afterCommit(() => claimed.forEach((execution) => this.emitStarted(execution, now)));
    return claimed.map((execution) => ({
      ...execution,
      token: outsideToken(execution.leaseToken, execution.id),
      leaseUntil,
    }));
  }

  private emitStarted(execution: ClaimedExecution, now: number): void {
    if (execution.attempt === 1) this.telemetry.executionClaimed(execution.agent, execution.waitedMs);
    if (this.liveEvents.areWanted) this.liveEvents.emit(executionEvent('execution_started', execution, now));
  }

  private lease(agent: string, now: number): { owner: null; until: number } {
    return { owner: null, until: now + this.catalog.agent(agent)!.timeoutMs };
  }
}

/** By priority, then oldest first. The index by assignee keeps this fast even if much waits for other assignees. */
const readyFor = ({ db }: Transaction, agent: string, assignee: string, limit: number): Promise<ExecutionRow[]> =>
  db
    .selectFrom('executions')
    .select(columnsOf(EXECUTIONS))
    .where('agent', '=', agent)
    .where('assignee', '=', assignee)
    // A literal, because the database does not use a partial index if the state is a parameter.
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .orderBy('priority', 'desc')
    .orderBy('seq')
    .limit(limit)
    .$castTo<ExecutionRow>()
    .execute();

const isSomeNobodys = async (db: Reader, agent: string): Promise<boolean> => {
  const found = await db
    .selectFrom('executions')
    .select('id')
    .where('agent', '=', agent)
    .where('assignee', 'is', null)
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};

const readyOne = ({ db }: Transaction, id: string): Promise<ExecutionRow[]> =>
  db
    .selectFrom('executions')
    .select(columnsOf(EXECUTIONS))
    .where('id', '=', id)
    .where(isInState('pending'))
    .where('available_at', 'is', null)
    .$castTo<ExecutionRow>()
    .execute();

async function waitingAmong({ db }: Transaction, asked: readonly AskedFor[]): Promise<AskedFor[]> {
  const names = sql.join(asked.map(({ agent, assignee }) => sql`(${agent}, ${assignee})`));
  const { rows } = await sql<AskedFor>`
    select asked.column1 as agent, asked.column2 as assignee from (values ${names}) as asked
    where exists (
      select 1 from executions
      where agent = asked.column1 and assignee = asked.column2 and state = 'pending' and available_at is null
    )`.execute(db);
  return rows;
}
