import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { shownLimit, singletonAgent } from '../../catalog/limits.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { scheduler } from '../../common/scheduler.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { externalWork, isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { AgentLimits } from '../execution/agent-limits.js';
import { AttemptReports } from '../execution/attempt-reports.js';
import type { ClaimedExecution } from '../execution/claimed-execution.js';
import { Claims } from '../execution/claims.js';
import { outsideToken } from '../execution/lease-token.js';
import type { ExecutionRow } from '../execution/leased-executions.js';
import { findLimitOf } from '../limits/blocked-execution-rows.js';
import { limitLocksOf } from '../limits/shared-limits.js';
import { claimLockKey } from '../scheduling/agent-pauses.js';
import { Backlog } from '../scheduling/backlog.js';
import type { AskedFor, ClaimOfOne, ClaimRequest, HeldExecution } from './claim-request.js';
import { findReady, findReadyFor, findWaitingAmong, handBack, hasUnassigned, setClaimant } from './external-rows.js';

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
    private readonly reports: AttemptReports,
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
      if (owner !== null && !(await hasUnassigned(this.unitOfWork.reader, name)))
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
      if (!agent) throw unknownAgent(name, this.catalog.agents);
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
    return this.unitOfWork.run((tx) => findWaitingAmong(tx, asked), { relaxedDurability: true });
  }

  /** Claims waiting executions in order of priority. An empty list if there are none. */
  async claim(request: ClaimRequest): Promise<HeldExecution[]> {
    for (let tries = 1; ; tries += 1) {
      const { held, missed } = await this.claimOnce(request);
      if (held.length > 0 || !missed || tries === MISSED_TRIES) return held;
      await scheduler.pause(MISSED_PAUSE_MS);
    }
  }

  async claimOne(id: string, agent: string, claimedBy: string | null): Promise<ClaimOfOne> {
    for (let tries = 1; ; tries += 1) {
      const claim = await this.unitOfWork.run((tx) => this.claimOneIn(tx, id, agent, claimedBy));
      if ('held' in claim || claim.whyNot !== IS_TOUCHED || tries === MISSED_TRIES) return claim;
      await scheduler.pause(MISSED_PAUSE_MS);
    }
  }

  /**
   * Puts executions back into the queue with the same attempt, without counting a lost lease: their client has
   * disconnected or released them. An execution with another lease is left unchanged.
   */
  async handBack(
    executions: readonly Pick<HeldExecution, 'id' | 'agent' | 'leaseToken' | 'limitKeys'>[],
  ): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      for (const { id, agent, leaseToken, limitKeys } of executions) {
        this.backlog.changed(tx, await handBack(tx, id, leaseToken));
        tx.afterCommit(() => {
          this.signals.executionReturned.publishEverywhere(agent);
          this.freeLimits(limitKeys);
        });
      }
    });
  }

  /** Call this when a client has ended the attempt of an execution with these keys (`executions.limit_keys`). */
  freeLimits(limitKeys: string | null): void {
    if (limitKeys !== null) this.claims.freeLimits(limitKeys);
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
      // Locked together, also the limits: if the locks were taken agent by agent, two transactions could wait for each other.
      const limits = agents.flatMap((agent) => limitLocksOf(this.catalog.agent(agent)!));
      await tx.lock([...agents.map(claimLockKey), ...limits]);
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
            this.claims.unassigned,
          );
          someMissed ||= missed;
          held.push(...(await this.give(tx, claimed, lease.until, claimedBy, now)));
        } else {
          const found = await findReadyFor(tx, agent, assignee, left);
          held.push(...(await this.take(tx, found, agent, claimedBy, now)));
        }
      }
      return { held, missed: someMissed };
    });
  }

  private async claimOneIn(tx: Transaction, id: string, agent: string, claimedBy: string | null): Promise<ClaimOfOne> {
    const found = await findReady(tx, id);
    const [held] = await this.take(tx, found, agent, claimedBy, this.clock.now());
    if (held) return { held };
    if (found.length === 0) return { whyNot: await this.limitOf(tx, id) };
    return { whyNot: (await this.limits.whyNone(tx, agent)) ?? IS_TOUCHED };
  }

  private async limitOf({ db }: Transaction, id: string): Promise<string | null> {
    const limit = await findLimitOf(db, id);
    if (limit === null) return null;
    return singletonAgent(limit) === null
      ? `it waits for the ${shownLimit(limit)}`
      : 'it waits for another one with its key of singleton';
  }

  private async take(
    tx: Transaction,
    found: ExecutionRow[],
    agent: string,
    claimedBy: string | null,
    now: number,
  ): Promise<HeldExecution[]> {
    const lease = this.lease(agent, now);
    return this.give(tx, await this.claims.claimThese(tx, found, lease), lease.until, claimedBy, now);
  }

  private async give(
    tx: Transaction,
    claimed: ClaimedExecution[],
    leaseUntil: number,
    claimedBy: string | null,
    now: number,
  ): Promise<HeldExecution[]> {
    if (claimed.length === 0) return [];
    await setClaimant(
      tx,
      claimed.map(({ id }) => id),
      claimedBy,
    );
    tx.afterCommit(() => {
      this.signals.leaseDeferred.publish(leaseUntil);
      claimed.forEach((execution) => {
        this.reports.claimed(execution);
        this.reports.started(execution, now);
      });
    });
    return claimed.map((execution) => ({
      ...execution,
      token: outsideToken(execution.leaseToken, execution.id),
      leaseUntil,
    }));
  }

  private lease(agent: string, now: number): { owner: null; until: number } {
    return { owner: null, until: now + this.catalog.agent(agent)!.timeoutMs };
  }
}
