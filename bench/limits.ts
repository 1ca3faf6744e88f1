// Limits by key and fairness: a rule that does not hold anything back must cost little, and work that it holds back must
// not slow down other work.
import { setTimeout as wait } from 'node:timers/promises';

import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import { type LoadGenerator, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { type LoadRequest, post } from './load.ts';
import { SETTINGS } from './postgres.ts';
import { report } from './report.ts';
import { CONNECTIONS } from './requests.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { median } from './statistics.ts';

const RUNS = 11;
const KEYS = 100_000;
const PUBLISHES_IN_RUN = 10_000;
const FEW_WAITING = 10_000;
const MANY_WAITING = 1_000_000;
const KEYS_OF_WAITING = 1_000;
const CALLS_IN_RUN = 300;
const STARTS_RUNS = 5;
const STARTS_MS = 150;
const TENANTS = 10_000;
const RUNS_OF_TENANTS = 3;
const OF_ONE_TENANT = 100_000;
const WORK_ENDS_WITHIN_MS = 600_000;

const OPTIONS = ['--max-pending-executions', '2000000'];

const work = (type: string, customer: number | string, tags: string[] = []): LoadRequest =>
  post('/api/v1/artifacts', { type, payload: { customer, text: 'Where is parcel 4711?' }, tags });

const ofCustomers = (type: string, customers: number, { first = 0, tags = [] as string[] } = {}): LoadRequest[] =>
  Array.from({ length: customers }, (_, index) => work(type, first + index, tags));

/** Measures one process on SQLite files. */
export const limitRows = (generator: LoadGenerator, folder: string): Promise<Row[]> =>
  rowsOn(generator, folder, () => Promise.resolve(undefined));

/** The same on a Postgres server. */
export async function postgresLimitRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  const cluster = await PostgresCluster.start(SETTINGS);
  const rows = await rowsOn(generator, folder, async (name) => {
    await queryOnce(cluster.url(), `create database "${name}"`);
    return cluster.url(name);
  });
  await cluster.close();
  return rows;
}

async function rowsOn(
  generator: LoadGenerator,
  folder: string,
  newDatabase: (name: string) => Promise<string | undefined>,
): Promise<Row[]> {
  const serve = async (name: string): Promise<Server> =>
    Server.starling(folder, name, {
      databaseUrl: await newDatabase(name),
      configuration: 'limits.yaml',
      options: OPTIONS,
    });
  report('limits: a limit that is not reached');
  const few = await serve('limits-few');
  const rows = await costRows(generator, few);
  report('limits: fairness');
  rows.push(await fairRow(generator, few));
  report('limits: work that waits');
  const many = await serve('limits-many');
  rows.push(await waitingRow(generator, few, many), await startsRow(few, many));
  await Promise.all([few.stop(), many.stop()]);
  return rows;
}

/** Measures publishes per second, and executions per second from the first publish to the end of the last execution. */
async function costRows(generator: LoadGenerator, server: Server): Promise<Row[]> {
  type Type = 'Free' | 'Limited';
  const measure = async (type: Type, run: number): Promise<{ publishes: number; executions: number }> => {
    const requests = ofCustomers(type, PUBLISHES_IN_RUN, { first: (run * PUBLISHES_IN_RUN) % KEYS });
    const started = performance.now();
    const { requestsPerSecond } = await publish(generator, server, requests, PUBLISHES_IN_RUN);
    await allEnded(server, type);
    return { publishes: requestsPerSecond, executions: PUBLISHES_IN_RUN / ((performance.now() - started) / 1_000) };
  };
  await measure('Free', 0);
  await measure('Limited', 0);
  const runs: Record<Type, Awaited<ReturnType<typeof measure>>>[] = [];
  for (let run = 0; run < RUNS; run += 1)
    runs.push({ Free: await measure('Free', run), Limited: await measure('Limited', run) });
  return (['publishes', 'executions'] as const).map((figure) => {
    const here = median(runs.map(({ Limited }) => Limited[figure]));
    const baseline = median(runs.map(({ Free }) => Free[figure]));
    return {
      work: `${figure}/s with a limit by key that is not reached (${KEYS.toLocaleString('en')} keys), of those without`,
      value: here / baseline,
      atLeast: 0.9,
      aim: 0.95,
      better: 'higher',
      unit: '',
      measured: perSecond(here),
      baseline: `without ${perSecond(baseline)}`,
    };
  });
}

/**
 * Measures how long 10,000 tenants wait for one answer each, behind a tenant that has 100,000 executions waiting, and of
 * an agent without a rule that has no other work.
 */
async function fairRow(generator: LoadGenerator, server: Server): Promise<Row> {
  const runs: { alone: number; here: number }[] = [];
  for (let run = 0; run < RUNS_OF_TENANTS; run += 1) {
    runs.push({
      alone: await answeredWithin(generator, server, 'Unfair', 0),
      here: await answeredWithin(generator, server, 'Fair', OF_ONE_TENANT),
    });
    await allEnded(server, 'Fair');
  }
  const alone = median(runs.map((run) => run.alone));
  const here = median(runs.map((run) => run.here));
  return {
    work: `${TENANTS.toLocaleString('en')} tenants behind one with ${OF_ONE_TENANT.toLocaleString('en')} waiting: their first answers, of those alone without fair_by`,
    value: here / alone,
    atLeast: 1.5,
    aim: 1.2,
    better: 'lower',
    unit: '',
    measured: milliseconds(here),
    baseline: milliseconds(alone),
  };
}

/** Returns the milliseconds in which all tenants get their answer, from the resuming of the paused agent. */
async function answeredWithin(
  generator: LoadGenerator,
  server: Server,
  type: 'Fair' | 'Unfair',
  ofOneTenant: number,
): Promise<number> {
  const agent = type.toLowerCase();
  await send(server, `/api/v1/agents/${agent}/pause`);
  if (ofOneTenant > 0) await publish(generator, server, [work(type, 'one')], ofOneTenant);
  await publish(generator, server, ofCustomers(type, TENANTS, { tags: [`each:${agent}`] }), TENANTS);
  const started = performance.now();
  await send(server, `/api/v1/agents/${agent}/resume`);
  await noneActive(server, `tag=each:${agent}`);
  return performance.now() - started;
}

/** Compares a caller of an agent with a limit while few and while many executions wait behind another limit. */
async function waitingRow(generator: LoadGenerator, few: Server, many: Server): Promise<Row> {
  const stuck = ofCustomers('Stuck', KEYS_OF_WAITING);
  await publish(generator, few, stuck, FEW_WAITING);
  await publish(generator, many, stuck, MANY_WAITING);
  const call = async (server: Server): Promise<number> => {
    const requests = ofCustomers('Limited', CALLS_IN_RUN).map((request) => ({
      ...request,
      path: '/api/v1/artifacts/sync',
    }));
    const { p50 } = await generator.run({
      url: server.url,
      requests,
      connections: 1,
      until: { requests: CALLS_IN_RUN },
    });
    return p50;
  };
  await call(few);
  await call(many);
  const runs: { few: number; many: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push({ few: await call(few), many: await call(many) });
  const here = median(runs.map((run) => run.many));
  const baseline = median(runs.map((run) => run.few));
  return {
    work: `sync publish while ${MANY_WAITING.toLocaleString('en')} executions wait for a limit, of ${FEW_WAITING.toLocaleString('en')}: p50`,
    value: here / baseline,
    atLeast: 1.2,
    aim: 1.05,
    better: 'lower',
    unit: '',
    measured: milliseconds(here),
    baseline: milliseconds(baseline),
  };
}

/** Compares how many of the executions that wait start and end each second when their limit has room for a moment. */
async function startsRow(few: Server, many: Server): Promise<Row> {
  const runs: { few: number; many: number }[] = [];
  for (let run = 0; run < STARTS_RUNS; run += 1)
    runs.push({ few: await endedPerSecond(few), many: await endedPerSecond(many) });
  const here = median(runs.map((run) => run.many));
  const baseline = median(runs.map((run) => run.few));
  return {
    work: `executions/s of those that wait for a limit when it has room, ${MANY_WAITING.toLocaleString('en')} of ${FEW_WAITING.toLocaleString('en')}`,
    value: here / baseline,
    atLeast: 0.8,
    aim: 0.95,
    better: 'higher',
    unit: '',
    measured: perSecond(here),
    baseline: perSecond(baseline),
  };
}

async function endedPerSecond(server: Server): Promise<number> {
  const before = await ended(server, 'stuck');
  const started = performance.now();
  await send(server, '/api/v1/limits/days', { method: 'PUT', body: JSON.stringify({ concurrency: 1 }) });
  await wait(STARTS_MS);
  await send(server, '/api/v1/limits/days', { method: 'PUT', body: JSON.stringify({ concurrency: 1, rate: '1/1d' }) });
  const count = (await ended(server, 'stuck')) - before;
  const perSecond = count / ((performance.now() - started) / 1_000);
  if (!(await someWaitFor(server, 'days'))) throw new Error('all that waited have started; make STARTS_MS shorter');
  await eventually('those that have started have ended', async () => {
    const earlier = await ended(server, 'stuck');
    await wait(1_000);
    return (await ended(server, 'stuck')) === earlier ? true : undefined;
  });
  return perSecond;
}

/** Returns true if executions wait for the limit. */
async function someWaitFor({ url }: Server, limit: string): Promise<boolean> {
  const { waiting } = (await (await fetch(`${url}/api/v1/limits/${limit}`)).json()) as { waiting: number };
  return waiting > 0;
}

const publish = (
  generator: LoadGenerator,
  { url }: Server,
  requests: LoadRequest[],
  times: number,
): ReturnType<LoadGenerator['run']> =>
  generator.run({ url, requests, connections: CONNECTIONS, until: { requests: times } });

/** The number of attempts of the agent that have ended. */
async function ended({ url }: Server, agent: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics?name=starling_execution_duration_seconds`)).text();
  const counts = metrics.matchAll(/^starling_execution_duration_seconds_count{(.*)} (\d+)$/gm);
  return [...counts].reduce(
    (sum, [, labels, count]) => sum + (labels!.includes(`agent="${agent}"`) ? Number(count) : 0),
    0,
  );
}

const allEnded = (server: Server, type: string): Promise<void> => noneActive(server, `type=${type}`);

async function noneActive({ url }: Server, filter: string): Promise<void> {
  await eventually(
    `no correlation with ${filter} is active`,
    async () => {
      const response = await fetch(`${url}/api/v1/correlations?state=active&limit=1&${filter}`);
      const { items } = (await response.json()) as { items: unknown[] };
      return items.length === 0 ? true : undefined;
    },
    WORK_ENDS_WITHIN_MS,
  );
}

async function send({ url }: Server, path: string, how: RequestInit = { method: 'POST' }): Promise<void> {
  const response = await fetch(`${url}${path}`, { headers: { 'content-type': 'application/json' }, ...how });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
}
