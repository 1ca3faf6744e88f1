import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { Settings } from '../../config/settings.js';
import { locking } from '../../database/dialects/dialect.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { columnsOf } from '../../leasing/leased-table.js';
import { inOwnTransactions } from '../../leasing/own-transactions.js';
import { type LostRow, RowLeases, TAKEN_AT_ONCE } from '../../leasing/row-leases.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../signals/signals.js';
import { endingExecution } from './ending-execution.js';
import { EXECUTIONS, type ExecutionRow } from './leased-executions.js';
import { Outcomes } from './outcomes.js';
import { Workers } from './workers.js';

/** An execution whose agent is gone, held to be ended. */
interface Orphan {
  row: ExecutionRow;
  leaseToken: string;
}

/** Who holds which running execution; fails those that lost their lease too often, and those whose agent is gone. */
@Injectable()
export class Leases {
  readonly rows: RowLeases<ExecutionRow>;

  constructor(
    settings: Settings,
    private readonly catalog: Catalog,
    private readonly workers: Workers,
    clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly outcomes: Outcomes,
    private readonly signals: Signals,
  ) {
    const holder = {
      owner: workers.own,
      leaseMs: settings.leaseMs,
      isOver: (lost: LostRow<ExecutionRow>) => this.wasLeftOutside(lost),
      // Whether an attempt has failed with its lease, and what then follows, the agent's configuration says.
      leftToOthers: () => workers.strangers(),
      giveUp: (tx: Transaction, lost: LostRow<ExecutionRow>) => this.giveUp(tx, lost),
      returned: (agent: string) => signals.executionReturned.publishEverywhere(agent),
    };
    this.rows = new RowLeases(EXECUTIONS, holder, clock, unitOfWork);
  }

  /** Fails what waits for an agent that no process's configuration has any more: it would wait for ever, unseen. */
  async failRemovedAgents(): Promise<number> {
    const orphans = await this.orphans();
    let failed = 0;
    for (let start = 0; start < orphans.length; start += TAKEN_AT_ONCE) {
      const some = orphans.slice(start, start + TAKEN_AT_ONCE);
      const seized = await this.unitOfWork.run((tx) => this.seize(tx, some));
      await inOwnTransactions(this.unitOfWork, seized, (tx, orphan) => this.failOrphan(tx, orphan));
      failed += seized.length;
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

  /** Takes those that still wait, since another process may know their agent. As in RowLeases, they are ended in transactions of their own. */
  private async seize(tx: Transaction, positions: number[]): Promise<Orphan[]> {
    const waiting = tx.db
      .selectFrom('executions')
      .select(columnsOf(EXECUTIONS))
      .where('seq', 'in', positions)
      .where('state', '=', sql.lit('pending' as const));
    const orphans = await locking(tx.db, waiting, { wait: false }).$castTo<ExecutionRow>().execute();
    const { owner, until } = this.rows.next();
    const leaseToken = randomUUID();
    const seized = { state: 'running', lease_token: leaseToken, lease_owner: owner, lease_until: until, attempt_started_at: null } as const;
    if (orphans.length > 0) await tx.db.updateTable('executions').set(seized).where('id', 'in', orphans.map(({ id }) => id)).execute();
    return orphans.map((row) => ({ row, leaseToken }));
  }

  private async failOrphan(tx: Transaction, { row, leaseToken }: Orphan): Promise<void> {
    await this.outcomes.fail(tx, await endingExecution(tx, row, leaseToken), {
      type: 'agent_removed',
      message: `the configuration has no agent ${row.line} any more`,
    });
  }

  /** To a remote agent that was to answer later, and whose time is up. */
  private wasLeftOutside({ line, lease_owner }: LostRow<ExecutionRow>): boolean {
    const agent = this.catalog.agent(line);
    return lease_owner === null && agent !== undefined && !isExternal(agent);
  }

  private async giveUp(tx: Transaction, lost: LostRow<ExecutionRow>): Promise<void> {
    if (this.wasLeftOutside(lost)) return this.failLate(tx, lost);
    const holder = isExternal(this.catalog.agent(lost.line))
      ? 'whoever had claimed it neither ended it nor said in time that they were still at it'
      : 'the process that ran it ended, or could not store its outcome';
    await this.outcomes.fail(tx, await endingExecution(tx, lost, lost.lease_token), {
      type: 'lost',
      message: `its lease was lost ${lost.lost_leases} times: ${holder}`,
    });
  }

  private async failLate(tx: Transaction, lost: LostRow<ExecutionRow>): Promise<void> {
    const message = `no answer within ${this.catalog.agent(lost.line)!.timeoutMs / 1_000} s: it was to come later`;
    await this.outcomes.failAttemptIn(tx, await endingExecution(tx, lost, lost.lease_token), { type: 'timeout', message });
    // Its place is free.
    tx.afterCommit(() => this.signals.executionReady.publish(lost.line));
  }
}
