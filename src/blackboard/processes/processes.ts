import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Role } from '../../common/role.js';
import { VERSION } from '../../common/version.js';
import { Settings } from '../../config/settings.js';
import type { WorkersTable } from '../../database/schema.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { type Configured, KnownWork } from './known-work.js';

/** Held while a process comes, and while something is done because no process has an agent or a subscription. */
export const PROCESSES = 'processes';

/**
 * Which processes are there, and which agents and subscriptions each of them has: while one configuration follows another, not all have
 * the same, and what one does not know another one runs.
 */
@Injectable()
export class Processes {
  /** This process, as leases know it too. */
  readonly own = newId();
  private startedAt: number | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly numbers: SubscriptionNumbers,
    private readonly role: Role,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
  ) {}

  /**
   * Says that this process is there, for as long as a lease lasts; those that were not seen for so long are forgotten. True where it
   * was not known to be there: it has come, or was silent for too long.
   */
  async register(): Promise<boolean> {
    if (this.startedAt !== null && (await this.renew())) return false;
    await this.unitOfWork.run((tx) => this.come(tx));
    this.signals.processesChanged.publishElsewhere(null);
    return true;
  }

  async leave(): Promise<void> {
    await this.unitOfWork.run(({ db }) => db.deleteFrom('workers').where('id', '=', this.own).execute());
    this.signals.processesChanged.publishElsewhere(null);
  }

  /** The live ones, in the order of their coming. */
  async all(): Promise<Selectable<WorkersTable>[]> {
    const now = this.clock.now();
    const rows = this.unitOfWork.reader.selectFrom('workers').selectAll().orderBy('id');
    if (!this.unitOfWork.dialect.exclusive) return rows.where('seen_until', '>', now).execute();
    return (await rows.execute()).map((row) => ({ ...row, seen_at: now }));
  }

  async known(db: Reader = this.unitOfWork.reader): Promise<KnownWork> {
    const own: Configured = { worker: this.role.worker, agents: this.agents, subscriptions: this.subscriptions };
    if (this.unitOfWork.dialect.exclusive) return new KnownWork(own, []);
    const others = await db
      .selectFrom('workers')
      .select(['roles', 'agents', 'subscriptions'])
      .where('seen_until', '>', this.clock.now())
      .where('id', '<>', this.own)
      .execute();
    return new KnownWork(own, others.map(configuredOf));
  }

  /** Whether an agent of this name is configured anywhere, also where no process runs it now. */
  async isConfigured(db: Reader, name: string): Promise<boolean> {
    return this.catalog.agent(name) !== undefined || (await this.known(db)).hasAgent(name);
  }

  private async renew(): Promise<boolean> {
    // Nobody else asks whether it is there.
    if (this.unitOfWork.dialect.exclusive) return true;
    const now = this.clock.now();
    return this.unitOfWork.run(async ({ db }) => {
      const { numUpdatedRows } = await db
        .updateTable('workers')
        .set({ seen_at: now, seen_until: now + this.settings.leaseMs })
        .where('id', '=', this.own)
        // Later, the others have acted without it.
        .where('seen_until', '>', now)
        .executeTakeFirst();
      await db.deleteFrom('workers').where('seen_until', '<=', now).execute();
      return numUpdatedRows > 0n;
    });
  }

  private async come(tx: Transaction): Promise<void> {
    await tx.lock([PROCESSES]);
    const now = this.clock.now();
    this.startedAt ??= now;
    // Where one has the database for itself, those before it have ended.
    await tx.db.deleteFrom('workers').$if(!this.unitOfWork.dialect.exclusive, (rows) => rows.where('seen_until', '<=', now)).execute();
    await tx.db
      .insertInto('workers')
      .values({
        id: this.own,
        agents: JSON.stringify(this.agents),
        subscriptions: JSON.stringify(this.subscriptions),
        roles: JSON.stringify(rolesOf(this.role)),
        version: VERSION,
        configuration: this.catalog.digest,
        started_at: this.startedAt,
        seen_at: now,
        seen_until: now + this.settings.leaseMs,
      })
      .execute();
  }

  /** A process that does not work runs none of its agents. */
  private get agents(): string[] {
    const had = this.role.worker ? this.catalog.agents : this.catalog.agents.filter(isExternal);
    return had.map(({ name }) => name);
  }

  /** Joins and windows go on by timers, which a process that does not work never fires. */
  private get subscriptions(): Record<string, number[]> {
    if (!this.role.worker) return {};
    const byAgent = Map.groupBy(this.numbers.all, ({ agent }) => agent);
    return Object.fromEntries([...byAgent].map(([agent, places]) => [agent, places.map(({ subscription }) => subscription)]));
  }
}

const rolesOf = ({ api, worker }: Role): string[] => [...(api ? ['server'] : []), ...(worker ? ['worker'] : [])];

const configuredOf = ({ roles, agents, subscriptions }: Pick<Selectable<WorkersTable>, 'roles' | 'agents' | 'subscriptions'>): Configured => ({
  worker: roles === null || (JSON.parse(roles) as string[]).includes('worker'),
  agents: JSON.parse(agents) as string[],
  subscriptions: subscriptions === null ? null : (JSON.parse(subscriptions) as Record<string, number[]>),
});
