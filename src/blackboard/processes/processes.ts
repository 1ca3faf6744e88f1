import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { configurationKeys } from '../../catalog/replay-configuration.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Role } from '../../common/role.js';
import { scheduler } from '../../common/scheduler.js';
import { VERSION } from '../../common/version.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { type Configured, KnownWork } from './known-work.js';
import {
  deleteExpiredProcesses,
  deleteProcess,
  doOthersRun,
  findLiveProcess,
  findOthers,
  findProcesses,
  insertProcess,
  type OtherProcess,
  type ProcessRow,
  renewProcess,
} from './process-rows.js';

/** Lock name. A process locks it to register, and to act on the fact that no process has an agent or a subscription. */
export const PROCESSES = 'processes';

/**
 * The live processes, and the agents, the subscriptions and the configurations for replays of each. They differ while a
 * new configuration is rolled out: another process may run an agent that this one does not have.
 */
@Injectable()
export class Processes {
  /** The id of this process, which is also the owner of its leases. */
  readonly own = newId();
  private startedAt: number | null = null;
  /** The answer of the last look at the processes; null if that may have changed since. */
  private lastKnown: KnownWork | null = null;
  /** Whether executions may be running that other processes have started. Their leases may have expired. */
  private othersMayRun = true;
  /** Whether all processes that start executions know this one. */
  private isCounted = false;
  /** Since when no other process is known (machine time in ms); null if there are others. */
  private aloneSince: number | null = null;
  /** How often the processes are known to have changed. */
  private changes = 0;

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly numbers: SubscriptionNumbers,
    private readonly role: Role,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
  ) {
    const changed = (): void => {
      this.changes += 1;
      this.lastKnown = null;
      this.othersMayRun = true;
      this.aloneSince = null;
      signals.setAlone(false);
    };
    signals.processesChanged.subscribe(changed);
    signals.resync.subscribe(changed);
  }

  /**
   * Whether another process may run executions of this agent, without a look at the database. A process that has just
   * started may be missed until its signal arrives.
   */
  mayRunElsewhere(agent: string): boolean {
    return this.unitOfWork.isShared && (this.lastKnown?.runsElsewhere(agent) ?? true);
  }

  /**
   * Whether no other process is known, and no execution runs that another one has started. It asks no database, so a
   * process that has just started may be missed.
   */
  get isAlone(): boolean {
    if (!this.unitOfWork.isShared) return true;
    return this.lastKnown?.isAlone === true && !this.othersMayRun;
  }

  /** How many processes live, including this one, as far as it knows without a look at the database. */
  get count(): number {
    return this.lastKnown?.processes ?? 1;
  }

  /**
   * Registers this process for the time of a lease (`lease`), and removes expired registrations. True if the process
   * was not registered: it has just started, or its registration had expired.
   */
  async register(): Promise<boolean> {
    if (this.startedAt !== null && (await this.renew())) return false;
    const isFirst = this.startedAt === null;
    this.isCounted = false;
    await this.unitOfWork.run((tx) => this.come(tx));
    this.signals.processesChanged.publishElsewhere(null);
    // A process that was alone until now may be storing executions that start without a lock (see ImmediateStarts).
    // They must be visible before this process counts the running ones.
    await this.unitOfWork.writersEnded('executions');
    this.isCounted = true;
    if (!isFirst) this.signals.resync.publish();
    return true;
  }

  /**
   * Whether other processes know this one. If its registration has expired, because the process was suspended, another
   * one may start executions without counting those of this one, so it must not claim any.
   */
  async isRegistered(db: Reader): Promise<boolean> {
    if (!this.unitOfWork.isShared) return true;
    const [row] = await findLiveProcess(db, { id: this.own, now: this.clock.now() });
    return row !== undefined && this.isCounted;
  }

  async leave(): Promise<void> {
    await this.unitOfWork.run((tx) => deleteProcess(tx, this.own));
    this.signals.processesChanged.publishElsewhere(null);
  }

  /** The live processes, in the order in which they started. */
  async all(): Promise<ProcessRow[]> {
    const now = this.clock.now();
    if (this.unitOfWork.isShared) return findProcesses(this.unitOfWork.reader, now);
    return (await findProcesses(this.unitOfWork.reader, null)).map((row) => ({ ...row, seen_at: now }));
  }

  async known(db: Reader = this.unitOfWork.reader): Promise<KnownWork> {
    const own: Configured = {
      id: this.own,
      worker: this.role.worker,
      agents: this.agents,
      subscriptions: this.subscriptions,
      configurations: this.role.worker ? this.catalog.replayKeys : [],
      maxExecutions: this.settings.maxConcurrentExecutions,
    };
    if (!this.unitOfWork.isShared) return new KnownWork(own, []);
    const { changes } = this;
    const others = await findOthers(db, this.own, this.clock.now());
    const known = new KnownWork(own, others.map(configuredOf));
    // Executions of processes that have ended count for the concurrency of their agents until they are taken over.
    const othersMayRun = !known.isAlone || (this.othersMayRun && (await doOthersRun(db, this.own)));
    if (changes === this.changes) {
      Object.assign(this, { lastKnown: known, othersMayRun });
      this.signals.setAlone(this.isLongAlone(known));
    }
    return known;
  }

  /** Whether this process or a live one has an agent with this name. This process need not run it. */
  async isConfigured(db: Reader, name: string): Promise<boolean> {
    return this.catalog.agent(name) !== undefined || (await this.known(db)).hasAgent(name);
  }

  /**
   * Whether no other process has been known for the time of a lease. After a jump of the clock or a suspended machine,
   * registrations of live processes have expired, and are renewed within that time.
   */
  private isLongAlone({ isAlone }: KnownWork): boolean {
    const now = scheduler.elapsed();
    this.aloneSince = isAlone ? (this.aloneSince ?? now) : null;
    return this.aloneSince !== null && now - this.aloneSince >= this.settings.leaseMs;
  }

  private async renew(): Promise<boolean> {
    // With SQLite there is no other process that could ask.
    if (!this.unitOfWork.isShared) return true;
    const now = this.clock.now();
    return this.unitOfWork.run(async (tx) => {
      // After it has expired, other processes have acted as if this one had ended, so it must register again.
      const isRenewed = await renewProcess(tx, this.own, now, now + this.settings.leaseMs);
      await deleteExpiredProcesses(tx, now);
      return isRenewed;
    });
  }

  private async come(tx: Transaction): Promise<void> {
    await tx.lock([PROCESSES]);
    const now = this.clock.now();
    this.startedAt ??= now;
    // With SQLite only one process has the database, so all other rows belong to processes that have ended.
    await deleteExpiredProcesses(tx, this.unitOfWork.isShared ? now : null);
    await insertProcess(tx, {
      id: this.own,
      agents: JSON.stringify(this.agents),
      subscriptions: JSON.stringify(this.subscriptions),
      roles: JSON.stringify(rolesOf(this.role)),
      version: VERSION,
      configuration: this.catalog.digest,
      replay_configurations: JSON.stringify(this.replayConfigurations),
      max_executions: this.settings.maxConcurrentExecutions,
      started_at: this.startedAt,
      seen_at: now,
      seen_until: now + this.settings.leaseMs,
    });
  }

  /** Without the worker role a process runs no agents, but clients can claim the work of external ones through it. */
  private get agents(): string[] {
    const had = this.role.worker ? this.catalog.agents : this.catalog.agents.filter(isExternal);
    return had.map(({ name }) => name);
  }

  /** Name → digest. Without the worker role a process runs no replay. */
  private get replayConfigurations(): Record<string, string> {
    if (!this.role.worker) return {};
    return Object.fromEntries([...this.catalog.replayCatalogs].map(([name, { digest }]) => [name, digest]));
  }

  /** Joins and windows need timers, which a process without the worker role never fires. */
  private get subscriptions(): Record<string, number[]> {
    if (!this.role.worker) return {};
    const byAgent = Map.groupBy(this.numbers.all, ({ agent }) => agent);
    return Object.fromEntries(
      [...byAgent].map(([agent, places]) => [agent, places.map(({ subscription }) => subscription)]),
    );
  }
}

const rolesOf = ({ api, worker }: Role): string[] => [...(api ? ['server'] : []), ...(worker ? ['worker'] : [])];

const keysOf = (replayConfigurations: Record<string, string>): string[] =>
  Object.entries(replayConfigurations).flatMap(([name, digest]) => configurationKeys(name, digest));

const configuredOf = ({ id, roles, agents, max_executions, ...lists }: OtherProcess): Configured => ({
  id,
  worker: (JSON.parse(roles) as string[]).includes('worker'),
  agents: JSON.parse(agents) as string[],
  subscriptions: JSON.parse(lists.subscriptions) as Record<string, number[]>,
  configurations: keysOf(JSON.parse(lists.replay_configurations) as Record<string, string>),
  maxExecutions: max_executions,
});
