// node starling-jobs.ts <database url> <jobs> <workers>: publishes this many artifacts into the service, which is
// called in this process, and sends how many executions per second finished, from the first publish to the end of the
// last.
import 'reflect-metadata';

import { Injectable } from '@nestjs/common';
import { pino } from 'pino';
import { v7 as newId } from 'uuid';

import { queryOnce } from '../test/support/postgres-cluster.ts';
import { eventually } from './eventually.ts';
import { inTurns } from './in-turns.ts';

const built = (file: string): Promise<unknown> => import(new URL(`../dist/${file}`, import.meta.url).href);
const { createApp } = (await built('create-app.js')) as typeof import('../src/create-app.js');
const { loadConfiguration } = (await built(
  'engines/load-configuration.js',
)) as typeof import('../src/engines/load-configuration.js');
const { resolveSettings } = (await built(
  'config/resolve-settings.js',
)) as typeof import('../src/config/resolve-settings.js');
const { Agent } = (await built('index.js')) as typeof import('../src/index.js');
const { Publisher } = (await built(
  'blackboard/publishing/publisher.js',
)) as typeof import('../src/blackboard/publishing/publisher.js');

const [databaseUrl, jobs, workers] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];

let executed = 0;

/** Does nothing, like pg-boss' handler. */
class Idler {
  async execute(): Promise<null> {
    executed += 1;
    return null;
  }
}
Injectable()(Idler);
Agent({ name: 'idler', consumes: [{ types: ['Job'] }], publishes: [{ type: 'Done' }], concurrency: workers })(Idler);

const { catalog } = await loadConfiguration(new URL('starling.yaml', import.meta.url).pathname, {}, [Idler]);
const flags = {
  database_url: databaseUrl,
  max_concurrent_executions: String(workers),
  max_pending_executions: String(jobs * 2),
};
const settings = resolveSettings({ flags, environment: {}, server: {} });
const app = await createApp({ settings, catalog, agents: [Idler], logger: pino({ level: 'warn' }) });
const publisher = app.get(Publisher, { strict: false });

await workOff(jobs / 5);
process.send!(await workOff(jobs));
await app.close();
process.disconnect();

/** Returns executions per second. */
async function workOff(count: number): Promise<number> {
  const before = await ended();
  executed = 0;
  const started = performance.now();
  await inTurns(workers, count, publish);
  await eventually(`${count} executions have begun`, async () => executed >= count || undefined, 120_000, 2);
  await eventually(
    `${count} executions have finished`,
    async () => (await ended()) - before >= count || undefined,
    120_000,
    2,
  );
  return count / ((performance.now() - started) / 1_000);
}

function publish(): Promise<unknown> {
  const artifactId = newId();
  return publisher.publish({
    artifactId,
    correlationId: artifactId,
    type: 'Job',
    payload: {},
    tags: [],
    partitionKey: null,
    visibility: { kind: 'Public' },
  });
}

async function ended(): Promise<number> {
  const [row] = await queryOnce<{ count: number }>(
    databaseUrl,
    'select count(*) from executions where ended_at is not null',
  );
  return row!.count;
}
