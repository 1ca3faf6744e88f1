import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import { type LoadGenerator, Server } from './children.ts';
import { jobRow } from './jobs.ts';
import { remoteRows } from './remote.ts';
import { latencyRows, replicaRows } from './replicas.ts';
import { report } from './report.ts';
import type { Row } from './row.ts';
import { streamRow } from './streams.ts';
import { Throughput } from './throughput.ts';

/**
 * The memory that a dedicated server would have; all else is at Postgres' defaults, so that a commit is on the disk
 * when it is answered.
 */
export const SETTINGS = { shared_buffers: '256MB' };

/** Measures one process and several on a Postgres server. */
export async function postgresRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  const cluster = await PostgresCluster.start(SETTINGS);
  const newDatabase = async (name: string): Promise<string> => {
    await queryOnce(cluster.url(), `create database "${name}"`);
    return cluster.url(name);
  };
  const rows: Row[] = [];

  report('Postgres: latency');
  rows.push(...(await latencyRows(generator, folder, await newDatabase('latency'))));
  report('Postgres: a chain');
  const echo = await Server.echo(folder);
  const chained = await Server.starling(folder, 'chain', { databaseUrl: await newDatabase('chain') });
  rows.push(await new Throughput(generator, echo).chain(chained, { atLeast: null, aim: null }));
  await Promise.all([echo.stop(), chained.stop()]);
  report('Postgres: replicas');
  rows.push(...(await replicaRows(generator, folder, await newDatabase('replicas'))));
  report('Postgres: compared with pg-boss');
  rows.push(await jobRow(newDatabase));

  report('Postgres: remote agents');
  rows.push(...(await remoteRows(generator, folder, await newDatabase('remote'))));

  report('Postgres: streams');
  rows.push(await streamRow(folder, await newDatabase('streams')));

  await cluster.close();
  return rows;
}
