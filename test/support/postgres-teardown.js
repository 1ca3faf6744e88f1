// Runs after the suites on Postgres: deletes their server with its data, or this run's databases on a given server.
import { queryOnce } from './postgres-cluster.ts';

export default async function tearDown() {
  if (globalThis.postgresCluster) return globalThis.postgresCluster.close();
  const url = process.env.TEST_DATABASE_URL;
  const left = await queryOnce(url, 'select datname from pg_database where starts_with(datname, $1)', [
    process.env.STARLING_TEST_RUN,
  ]);
  for (const { datname } of left) await queryOnce(url, `drop database "${datname}" with (force)`);
}
