import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Catalog } from '../../src/catalog/catalog.js';
import { BUDGET, OVERSPENT } from './budget-invariants.js';
import { FlowWatch } from './flow-watch.js';
import type { Flows } from './flows.js';
import { REFUSED_CHANGES } from './refused-changes.js';
import { ACTIVE_AFTER_TRIAL, CHANGED_ORIGINALS } from './repeat-invariants.js';

interface Settled {
  id: string;
  generation: number;
  state: string;
  settled_at: number;
}

/** Checks what must hold after every turn, as a reader outside of the service sees it. */
export class TurnInvariants {
  private readonly connection: DatabaseSync;
  private readonly version: StatementSync;
  private readonly running: StatementSync;
  private readonly open: StatementSync;
  private readonly overspent: StatementSync;
  private readonly contrary: StatementSync;
  private readonly settled: StatementSync;
  private readonly seen: StatementSync;
  private readonly last: StatementSync;
  private readonly refused: StatementSync;
  private readonly originals: StatementSync;
  private readonly afterTrial: StatementSync;
  private checked = -1;
  private position = { seq: 0, count: 0 };
  private readonly ends = new Map<string, string>();

  readonly flow: FlowWatch;

  constructor(
    folder: string,
    private readonly catalog: Catalog,
    flows: Flows,
    stepsBack: number[],
  ) {
    this.connection = new DatabaseSync(join(folder, 'starling.db'), { readOnly: true });
    const prepare = (query: string): StatementSync => this.connection.prepare(query);
    // Changes with each commit of another connection.
    this.version = prepare('PRAGMA data_version');
    this.running = prepare(`select agent, count(*) as count from executions where state = 'running' group by agent`);
    this.open = prepare(
      `select b.id, count(*) as count from batches b join runs r on r.batch_id = b.id
       where r.status = 'running' group by b.id having count(*) > b.max_workers`,
    );
    this.overspent = prepare(OVERSPENT);
    this.contrary = prepare(`select id from correlations where (state = 'active') <> (pending > 0)`);
    this.settled = prepare('select id, generation, state, settled_at from correlations where settled_at is not null');
    this.seen = prepare('select count(*) as count from artifacts where seq <= ?');
    this.last = prepare('select coalesce(max(seq), 0) as seq, count(*) as count from artifacts');
    this.refused = prepare(REFUSED_CHANGES);
    this.originals = prepare(CHANGED_ORIGINALS);
    this.afterTrial = prepare(ACTIVE_AFTER_TRIAL);
    this.flow = new FlowWatch(this.connection, flows, stepsBack);
  }

  /** Returns one line for each that does not hold (see `FlowWatch.passed`). Cheap in a turn that commits nothing. */
  breaches(calm: number, isHindered: boolean): string[] {
    this.flow.passed(calm, isHindered);
    const { data_version: version } = this.version.get() as { data_version: number };
    if (version === this.checked) return [];
    this.checked = version;
    return [...this.limits(), ...this.settlements(), ...this.positions(), ...this.flow.breaches()];
  }

  close(): void {
    this.connection.close();
  }

  private limits(): string[] {
    const running = this.running.all() as { agent: string; count: number }[];
    const open = this.open.all() as { id: string; count: number }[];
    const overspent = this.overspent.all(BUDGET) as { id: string; tokens: number }[];
    return [
      ...running
        .filter((row) => row.count > this.catalog.agent(row.agent)!.concurrency)
        .map((row) => `${row.count} executions of ${row.agent} run together`),
      ...open.map(({ id, count }) => `${count} runs of batch ${id} run together`),
      ...overspent.map(({ id, tokens }) => `${id} has used and reserved ${tokens} tokens, which is over its budget`),
    ];
  }

  private settlements(): string[] {
    const contrary = this.contrary.all() as { id: string }[];
    const settled = this.settled.all() as unknown as Settled[];
    const refused = this.refused.all() as { id: string; old: string; new: string }[];
    const originals = this.originals.all() as { id: string; what: string }[];
    const afterTrial = this.afterTrial.all() as { id: string }[];
    const changed = settled.flatMap(({ id, generation, state, settled_at: time }) => {
      const key = `${id} (${generation})`;
      const before = this.ends.get(key);
      this.ends.set(key, `${state} at ${time}`);
      return before === undefined || before === `${state} at ${time}`
        ? []
        : [`correlation ${key} settled as ${before}, and again as ${state} at ${time}`];
    });
    return [
      ...contrary.map(({ id }) => `correlation ${id} is settled with pending work, or active without`),
      ...refused.map((change) => `${change.id} has changed from ${change.old} to ${change.new}`),
      ...afterTrial.map(({ id }) => `the trial of ${id} has ended, and ${id} is active`),
      ...originals.map(({ id, what }) => `${id} has been repeated, and ${what} changed`),
      ...changed,
    ];
  }

  private positions(): string[] {
    const { count } = this.seen.get(this.position.seq) as { count: number };
    const missed = count - this.position.count;
    this.position = this.last.get() as { seq: number; count: number };
    // Retention makes it negative.
    return missed <= 0 ? [] : [`${missed} artifacts came into positions that a reader had passed`];
  }
}
