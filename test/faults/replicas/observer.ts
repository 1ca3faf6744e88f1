import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { parse } from 'yaml';

import type { Configuration, Correlation, End, Look } from '../../history/entry.js';
import { jsonField, type Rows, type TestDatabase } from '../../support/database.js';
import { addExecutions } from './execution-log.js';
import type { HistoryRecorder } from './history-recorder.js';
import { BATCH_ROWS, BATCH_WORKERS } from './requests.js';

const LOOK_EVERY_MS = 200;
const DEFAULT_CONCURRENCY = 10;

/** Correlations with the name of the request that each follows from: runs and batches are named by their inputs. */
const NAMED = `select c.*, case when r.payload is null then c.id
    else coalesce(${jsonField('r.payload', 'batch')}, 'run-' || ${jsonField('r.payload', 'n')}) end as request
  from correlations c left join artifacts r on r.correlation_id = c.id and r.type = 'Row'`;

/** Adds to the history what the database shows: snapshots while work continues, and all of it at the end. */
export class Observer {
  private isLooking = true;
  private readonly looks: Promise<void>;

  constructor(
    private readonly database: TestDatabase,
    private readonly recorder: HistoryRecorder,
    config: string,
  ) {
    recorder.begin('configure', 'limits').ok(configurationOf(config));
    this.looks = this.lookOn();
  }

  /** To be called when no work is left. */
  async end(): Promise<void> {
    this.isLooking = false;
    await this.looks;
    await this.database.look(async (rows) => {
      await addExecutions(rows, NAMED, this.recorder);
      this.recorder.begin('end', 'end').ok(await endIn(rows));
    });
  }

  private async lookOn(): Promise<void> {
    while (this.isLooking) {
      const look = this.recorder.begin('look', 'database');
      // The server may be down now.
      await this.database.look(lookIn).then(look.ok, look.fail);
      await delay(LOOK_EVERY_MS);
    }
  }
}

function configurationOf(config: string): Configuration {
  const { agents } = parse(readFileSync(config, 'utf8')) as { agents: Record<string, { concurrency?: number }> };
  return {
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, { concurrency = DEFAULT_CONCURRENCY }]) => [name, concurrency]),
    ),
    batch: BATCH_WORKERS,
    batch_rows: BATCH_ROWS,
  };
}

const correlationsIn = (rows: Rows): Promise<Correlation[]> =>
  rows(`select id, request, state, generation, settled_at from (${NAMED}) named`);

const lookIn = async (rows: Rows): Promise<Look> => ({
  running: await countsIn(
    rows,
    `select agent as name, count(*) as count from executions where state = 'running' group by 1`,
  ),
  open: await countsIn(
    rows,
    `select batch_id as name, count(*) as count from runs where status = 'running' and batch_id is not null group by 1`,
  ),
  correlations: await correlationsIn(rows),
});

async function countsIn(rows: Rows, query: string): Promise<Record<string, number>> {
  const found = await rows<{ name: string; count: number }>(query);
  return Object.fromEntries(found.map(({ name, count }) => [name, count]));
}

const endIn = async (rows: Rows): Promise<End> => ({
  artifacts: await rows(
    `select a.seq as position, a.id, a.type, a.execution_id as execution, c.request, (${jsonField('a.payload', 'n')})::int as n
     from artifacts a join (${NAMED}) c on c.id = a.correlation_id`,
  ),
  correlations: await correlationsIn(rows),
  runs: await rows(
    `select r.id, c.request, r.status from runs r join (${NAMED}) c on c.id = r.id where r.batch_id is null`,
  ),
  batches: await rows(
    `select id, ${jsonField('static_inputs', 'batch')} as request, status, succeeded_items as succeeded, running_runs as open from batches`,
  ),
});
