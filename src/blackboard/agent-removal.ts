import { randomUUID } from 'node:crypto';

import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { unknownAgent } from '../catalog/unknown-names.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { locking } from '../database/dialects/dialect.js';
import { type Reader, type Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { forEachInTransaction } from '../queue/for-each-in-transaction.js';
import { columnsOf } from '../queue/leased-table.js';
import { TAKEN_AT_ONCE } from '../queue/row-leases.js';
import { CorrelationTracker } from './correlations/correlation-tracker.js';
import { endingExecution } from './execution/ending-execution.js';
import { type ExecutionRow, EXECUTIONS } from './execution/leased-executions.js';
import { Leases } from './execution/leases.js';
import { Outcomes } from './execution/outcomes.js';
import { GroupErrors } from './joins/group-errors.js';
import { GroupsWithoutSubscription } from './joins/groups-without-subscription.js';
import { findGroup, findMembers, type WaitingGroup } from './joins/join-group-rows.js';
import { lockKeyOf } from './joins/lock-keys.js';
import { WaitingGroups } from './joins/waiting-groups.js';
import type { SubscriptionPlace } from './matching/subscription-rows.js';
import { Presence } from './presence/presence.js';
import { PROCESSES, Processes } from './processes/processes.js';
import type { Ended } from './publishing/blackboard.js';

const ERROR_TYPE = 'agent_removed';
const TRY_AGAIN_SECONDS = 5;

/** A waiting execution that this process has leased in order to fail it. */
interface Seized {
  row: ExecutionRow;
  leaseToken: string;
}

/**
 * Fails the work that waits for an agent, or for a subscription of it, that no live process has. It takes some at a
 * time and ends each in a separate transaction. After a crash, the rest waits as before.
 */
@Injectable()
export class AgentRemoval {
  constructor(
    private readonly processes: Processes,
    private readonly presence: Presence,
    private readonly leases: Leases,
    private readonly outcomes: Outcomes,
    private readonly groupsWithoutSubscription: GroupsWithoutSubscription,
    private readonly groups: WaitingGroups,
    private readonly groupErrors: GroupErrors,
    private readonly tracker: CorrelationTracker,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Implements `Blackboard.failWithoutAgent`. */
  async fail(agent: string): Promise<Ended> {
    const places = (await this.groupsWithoutSubscription.find()).filter((place) => place.agent === agent);
    await this.check(agent, places);
    const ended = { executions: await this.failExecutions(agent), groups: 0 };
    for (const place of places) ended.groups += await this.failGroups(place);
    await this.presence.count();
    return ended;
  }

  private async check(agent: string, places: readonly SubscriptionPlace[]): Promise<void> {
    if (places.length > 0) return;
    if ((await this.processes.known()).hasAgent(agent)) {
      throw new DomainError(
        'conflict',
        `A live process has the agent ${agent} and runs its executions; GET /api/v1/processes shows which`,
      );
    }
    // An agent with ended executions is not an error: the client may have sent the request twice.
    if (!(await isStored(this.unitOfWork.reader, agent))) throw unknownAgent(agent);
  }

  private async failExecutions(agent: string): Promise<number> {
    let failed = 0;
    for (;;) {
      this.refuseWhenStopping();
      const seized = await this.unitOfWork.run((tx) => this.seize(tx, agent));
      if (seized.length === 0) return failed;
      await forEachInTransaction(this.unitOfWork, seized, async (tx, { row, leaseToken }) => {
        const failure = {
          type: ERROR_TYPE,
          message: `no process has the agent ${agent}; a request ended this execution`,
        };
        const outcome = await this.outcomes.fail(tx, await endingExecution(tx, row, leaseToken), failure);
        if (outcome === 'failed') tx.afterCommit(() => (failed += 1));
      });
    }
  }

  /**
   * Leases some for this process; none if a process with the agent has started. Other transactions end them, as in
   * RowLeases.
   */
  private async seize(tx: Transaction, agent: string): Promise<Seized[]> {
    await tx.lock([PROCESSES]);
    if ((await this.processes.known(tx.db)).hasAgent(agent)) return [];
    const rows = await waitingOf(tx, agent);
    const { owner, until } = this.leases.rows.next();
    const leaseToken = randomUUID();
    const seized = {
      state: 'running',
      available_at: null,
      lease_token: leaseToken,
      lease_owner: owner,
      lease_until: until,
      attempt_started_at: null,
    } as const;
    if (rows.length > 0)
      await tx.db
        .updateTable('executions')
        .set(seized)
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute();
    return rows.map((row) => ({ row, leaseToken }));
  }

  private async failGroups(place: SubscriptionPlace): Promise<number> {
    let failed = 0;
    for (;;) {
      this.refuseWhenStopping();
      const before = failed;
      const groups = await groupsOf(this.unitOfWork.reader, place);
      await forEachInTransaction(this.unitOfWork, groups, async (tx, group) => {
        if (await this.failGroup(tx, group)) tx.afterCommit(() => (failed += 1));
      });
      if (failed === before) return failed;
    }
  }

  /** False if the group has ended already, or a process with its subscription has started. */
  private async failGroup(tx: Transaction, { id, ...place }: WaitingGroup): Promise<boolean> {
    await tx.lock([PROCESSES, lockKeyOf(place)]);
    const group = await findGroup(tx.db, id);
    if (!group || (await this.processes.known(tx.db)).hasSubscription(group)) return false;
    const changes = this.tracker.begin(tx, this.clock.now());
    const members = await findMembers(tx.db, { groupId: id });
    const message = `no process has the subscription of ${group.agent} that these artifacts waited for; a request ended the wait`;
    await this.groups.release(tx, changes, group, members);
    await this.groupErrors.write(tx, changes, { agent: group.agent, errorType: ERROR_TYPE, message }, members);
    await this.groups.remove(tx, id);
    await changes.save();
    return true;
  }

  private refuseWhenStopping(): void {
    if (!this.lifecycle.stopping) return;
    throw new DomainError('unavailable', 'The service is shutting down; send the request again to end the rest', {
      retryAfterSeconds: TRY_AGAIN_SECONDS,
    });
  }
}

/** Two queries, because each uses one of the partial indexes of the queue. */
async function waitingOf({ db }: Transaction, agent: string): Promise<ExecutionRow[]> {
  const waiting = db
    .selectFrom('executions')
    .select(columnsOf(EXECUTIONS))
    .where('agent', '=', agent)
    .where('state', '=', sql.lit('pending' as const))
    .limit(TAKEN_AT_ONCE);
  const ready = await locking(db, waiting.where('available_at', 'is', null), { wait: false })
    .$castTo<ExecutionRow>()
    .execute();
  return ready.length > 0
    ? ready
    : locking(db, waiting.where('available_at', 'is not', null), { wait: false })
        .$castTo<ExecutionRow>()
        .execute();
}

const groupsOf = (reader: Reader, { agent, subscription }: SubscriptionPlace): Promise<WaitingGroup[]> =>
  reader
    .selectFrom('join_groups')
    .selectAll()
    .where('agent', '=', agent)
    .where('subscription', '=', subscription)
    .limit(TAKEN_AT_ONCE)
    .execute();

/** Whether the database has an execution or an artifact of an agent with this name. Ended executions count. */
async function isStored(reader: Reader, agent: string): Promise<boolean> {
  const executions = reader.selectFrom('executions').select('seq').where('agent', '=', agent).limit(1);
  const pending = executions.where('state', '=', sql.lit('pending' as const));
  // One query per partial index; one query over all would read the whole table.
  const places = [
    pending.where('available_at', 'is', null),
    pending.where('available_at', 'is not', null),
    executions.where('state', '=', sql.lit('running' as const)),
    executions.where('ended_at', 'is not', null),
    reader.selectFrom('artifacts').select('seq').where('produced_by', '=', agent).limit(1),
  ];
  const found = await Promise.all(places.map((place) => place.executeTakeFirst()));
  return found.some((row) => row !== undefined);
}
