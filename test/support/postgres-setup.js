// Runs before the suites on Postgres: starts one server for all of them, or uses that of TEST_DATABASE_URL, whose user must
// be allowed to create databases.
import { randomBytes } from 'node:crypto';

import { NOT_DURABLE, PostgresCluster } from './postgres-cluster.ts';

export default async function setUp() {
  // Workers get both from the environment. The names of this run's databases begin with the latter.
  process.env.STARLING_TEST_RUN = `starling_test_${randomBytes(4).toString('hex')}`;
  if (process.env.TEST_DATABASE_URL) return;
  globalThis.postgresCluster = await PostgresCluster.start(NOT_DURABLE);
  process.env.TEST_DATABASE_URL = globalThis.postgresCluster.url();
}
