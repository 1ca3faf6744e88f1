import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Settings } from '../../config/settings.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';

/**
 * Which processes work on this database, and which agents each of them has: while one configuration follows another, not all have
 * the same, and what one does not know another one runs.
 */
@Injectable()
export class Workers {
  /** This process, as leases know it too. */
  readonly own = newId();

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Says that this process is there, for as long as a lease lasts; those that were not seen for so long are forgotten. */
  async register(): Promise<void> {
    const now = this.clock.now();
    const agents = JSON.stringify(this.catalog.agents.map(({ name }) => name));
    const seen_until = now + this.settings.leaseMs;
    await this.unitOfWork.run(async ({ db }) => {
      await db.deleteFrom('workers').where('seen_until', '<=', now).execute();
      await db
        .insertInto('workers')
        .values({ id: this.own, agents, seen_until })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_until }))
        .execute();
    });
  }

  async leave(): Promise<void> {
    await this.unitOfWork.run(({ db }) => db.deleteFrom('workers').where('id', '=', this.own).execute());
  }

  /** Agents that any process has, this one included. */
  async knownAgents(db: Reader = this.unitOfWork.reader): Promise<Set<string>> {
    const own = this.catalog.agents.map(({ name }) => name);
    if (this.unitOfWork.dialect.exclusive) return new Set(own);
    const rows = await db.selectFrom('workers').select('agents').where('seen_until', '>', this.clock.now()).execute();
    return new Set([...own, ...rows.flatMap(({ agents }) => JSON.parse(agents) as string[])]);
  }

  /** Agents that other processes have, and this one does not. */
  async strangers(): Promise<string[]> {
    return [...(await this.knownAgents())].filter((name) => !this.catalog.agent(name));
  }
}
