// npm run bench [-- <part>]: measures the built service and its baselines and prints the tables, of one of the parts below
// or of all; docs/performance.md says how to read them.
import { cpus, totalmem } from 'node:os';

import { LoadGenerator } from './children.ts';
import { dashboardRows } from './dashboard.ts';
import { experimentRows } from './experiments.ts';
import { postgresHistoryRows, sqliteHistoryRows } from './history-queries.ts';
import { installRows } from './installs.ts';
import { limitRows, postgresLimitRows } from './limits.ts';
import { postgresRows } from './postgres.ts';
import { report } from './report.ts';
import { printTable } from './row.ts';
import { sqliteRows } from './sqlite.ts';
import { inWorkspace } from './workspace.ts';

const PARTS = {
  sqlite: { title: 'On SQLite', rowsOf: sqliteRows },
  postgres: { title: 'On Postgres', rowsOf: postgresRows },
  'sqlite-history': { title: 'A long history, on SQLite', rowsOf: sqliteHistoryRows },
  'postgres-history': { title: 'A long history, on Postgres', rowsOf: postgresHistoryRows },
  limits: { title: 'Limits and fairness, on SQLite', rowsOf: limitRows },
  'postgres-limits': { title: 'Limits and fairness, on Postgres', rowsOf: postgresLimitRows },
  experiments: { title: 'Beside a running experiment', rowsOf: experimentRows },
  dashboard: { title: 'The dashboard, on SQLite', rowsOf: dashboardRows },
  install: { title: 'Installations and starts', rowsOf: (_: LoadGenerator, folder: string) => installRows(folder) },
};

await inWorkspace(bench);

async function bench(folder: string): Promise<void> {
  const wanted = process.argv[2] ?? '';
  const parts = Object.entries(PARTS).filter(([name]) => wanted === '' || wanted === name);
  if (parts.length === 0)
    throw new Error(`must be ${Object.keys(PARTS).join(' or ')}, or nothing for all (got "${wanted}")`);
  console.log(
    `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${new Date().toISOString()}\n`,
  );
  const generator = new LoadGenerator();
  for (const [, { title, rowsOf }] of parts) {
    const rows = await rowsOf(generator, folder);
    console.log(`${title}:\n`);
    printTable(rows);
    console.log();
  }
  console.log(`The load generator was busy for at most ${Math.round(generator.busiest * 100)} % of a core.`);
  report('done');
}
