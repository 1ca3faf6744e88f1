import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Catalog } from '../../src/catalog/catalog.js';
import { REFUSED_CHANGES } from './refused-changes.js';

/** Checks what must hold after every turn, as a reader outside of the service sees it. */
export class TurnInvariants {
  private readonly connection: DatabaseSync;
  private readonly running: StatementSync;
  private readonly settled: StatementSync;
  private readonly seen: StatementSync;
  private readonly last: StatementSync;
  private readonly refused: StatementSync;
  private position = { seq: 0, count: 0 };

  constructor(
    folder: string,
    private readonly catalog: Catalog,
  ) {
    this.connection = new DatabaseSync(join(folder, 'starling.db'), { readOnly: true });
    this.running = this.connection.prepare(
      `select agent, count(*) as count from executions where state = 'running' group by agent`,
    );
    this.settled = this.connection.prepare(`select id from correlations where (state = 'active') <> (pending > 0)`);
    this.seen = this.connection.prepare('select count(*) as count from artifacts where seq <= ?');
    this.last = this.connection.prepare('select coalesce(max(seq), 0) as seq, count(*) as count from artifacts');
    this.refused = this.connection.prepare(REFUSED_CHANGES);
  }

  /** Returns one line for each that does not hold. */
  breaches(): string[] {
    const running = this.running.all() as { agent: string; count: number }[];
    const settled = this.settled.all() as { id: string }[];
    const refused = this.refused.all() as { id: string; old: string; new: string }[];
    const { count } = this.seen.get(this.position.seq) as { count: number };
    const missed = count - this.position.count;
    this.position = this.last.get() as { seq: number; count: number };
    return [
      ...running
        .filter((row) => row.count > this.catalog.agent(row.agent)!.concurrency)
        .map((row) => `${row.count} executions of ${row.agent} run together`),
      ...settled.map(({ id }) => `correlation ${id} is settled with pending work, or active without`),
      ...refused.map((change) => `${change.id} has changed from ${change.old} to ${change.new}`),
      ...(missed === 0 ? [] : [`${missed} artifacts came into positions that a reader had passed`]),
    ];
  }

  close(): void {
    this.connection.close();
  }
}
