import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import type { LoadGenerator } from './children.ts';
import { SETTINGS } from './postgres.ts';
import { report } from './report.ts';
import type { Row } from './row.ts';
import { type History, LARGE, Scale, SMALL } from './scale.ts';
import { serveHistory, servePostgresHistory } from './seeded-server.ts';

/** Measures queries over a large history and over a small one, on SQLite files. */
export const sqliteHistoryRows = (generator: LoadGenerator, folder: string): Promise<Row[]> =>
  historyRows(generator, (artifacts) => serveHistory(folder, artifacts));

/** The same on a Postgres server. */
export async function postgresHistoryRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  const cluster = await PostgresCluster.start(SETTINGS);
  const rows = await historyRows(generator, async (artifacts) => {
    await queryOnce(cluster.url(), `create database "${artifacts}"`);
    return servePostgresHistory(folder, cluster.url(String(artifacts)), artifacts);
  });
  await cluster.close();
  return rows;
}

async function historyRows(generator: LoadGenerator, serve: (artifacts: number) => Promise<History>): Promise<Row[]> {
  report(`histories of ${SMALL} and ${LARGE} artifacts`);
  const small = await serve(SMALL);
  const large = await serve(LARGE);
  const row = await new Scale(generator, small, large).row();
  await Promise.all([small.server.stop(), large.server.stop()]);
  return [row];
}
