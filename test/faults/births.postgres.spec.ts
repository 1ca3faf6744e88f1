import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { Service } from '../support/service.js';
import { CommitProxy } from './commit-proxy.js';

const CONFIG = `
agents:
  worker:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Done }]
    concurrency: 1
    engine: { kind: function, module: ./worker.js }
  other: { consumes: [{ types: [Other] }], publishes: [{ type: Done }], engine: { kind: function, module: ./done.js } }
`;

/** Writes its start and its end down, and waits for the gate in between. */
const WORKER = `import { appendFileSync, existsSync } from 'node:fs';
const file = (name) => new URL(name, import.meta.url);
export default async ([{ payload }]) => {
  appendFileSync(file('runs'), 'start ' + payload.name + '\\n');
  while (!existsSync(file('gate'))) await new Promise((resolve) => setTimeout(resolve, 5));
  appendFileSync(file('runs'), 'end ' + payload.name + '\\n');
  return {};
};`;

const TRIES = 5;

/** Runs the built program as processes, a real database, and a proxy of the test between the two. */
describe('an execution that the publish has stored as running', () => {
  let folder: ConfigurationFolder;
  let database: TestDatabase;
  let proxy: CommitProxy;
  let services: Service[];

  beforeAll(() => builtProgram(), 180_000);

  beforeEach(async () => {
    folder = new ConfigurationFolder();
    folder.write('starling.yaml', CONFIG);
    folder.write('worker.js', WORKER);
    folder.write('done.js', QUEUED['done.js']);
    database = await databaseOf(folder.path);
    services = [];
  });

  afterEach(async () => {
    await Promise.all(services.map((service) => service.kill()));
    proxy.close();
    await database.drop();
    folder.remove();
  });

  async function start(url: string, lease: string): Promise<Service> {
    const config = join(folder.path, 'starling.yaml');
    const options = ['--config', config, '--database-url', url, '--lease', lease, '--log-level', 'warn'];
    const service = await Service.start(options);
    services.push(service);
    return service;
  }

  const publish = (service: Service, type: string, name: string, text = ''): Promise<Response> =>
    fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': name },
      body: JSON.stringify({ type, payload: { name, text } }),
    });

  const runs = (): string[] => {
    const path = join(folder.path, 'runs');
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  };
  const of = (name: string) =>
    database.rows<{ state: string; attempt: number; lost_leases: number; is_born: boolean }>(
      `select state, attempt, lost_leases, started_at = created_at as is_born from executions where correlation_id = '${name}'`,
    );
  const isDone = async (name: string): Promise<boolean> => (await of(name))[0]?.state === 'completed';

  /** Starts a process that stores executions as running. It does not while it looks around, which it does now and then. */
  async function startAlone(lease: string): Promise<Service> {
    const service = await start(proxy.url, lease);
    for (let count = 1; ; count += 1) {
      const name = `warm-${services.length}-${count}`;
      expect((await publish(service, 'Order', name)).status).toBe(200);
      await eventually('it is done', () => isDone(name));
      if ((await of(name))[0]!.is_born) return service;
    }
  }

  it('runs once in the next process if this one is killed before it runs', async () => {
    folder.write('gate', '');
    for (let count = 1; ; count += 1) {
      proxy?.close();
      proxy = await CommitProxy.before(database.url);
      const service = await startAlone('1s');
      const name = `lost-${count}`;
      const committed = proxy.stopAt(name, 'lost');
      const answer = publish(service, 'Order', name).catch(() => null);
      await committed;
      const [stored] = await of(name);
      await service.kill();
      await answer;
      expect(runs()).not.toContain(`start ${name}`);
      await start(database.url, '1s');
      await eventually('it is done', () => isDone(name));
      expect(runs().filter((line) => line.endsWith(name))).toEqual([`start ${name}`, `end ${name}`]);
      await services.at(-1)!.kill();
      if (stored!.state === 'pending' && count < TRIES) continue;
      expect(stored).toEqual({ state: 'running', attempt: 1, lost_leases: 0, is_born: true });
      expect(await of(name)).toMatchObject([{ attempt: 1, lost_leases: 1 }]);
      return;
    }
  });

  it('counts for the concurrency in a process that joins before the commit', async () => {
    proxy = await CommitProxy.before(database.url);
    folder.write('gate', '');
    const service = await startAlone('30s');
    folder.remove();
    folder.write('starling.yaml', CONFIG);
    folder.write('worker.js', WORKER);
    folder.write('done.js', QUEUED['done.js']);
    const held = proxy.stopAt('first', 'held');
    const answer = publish(service, 'Order', 'first');
    await held;
    // A long one shares no transaction with others, and does not wait for the one that is held.
    expect((await publish(service, 'Order', 'second', 'x'.repeat(100_000))).status).toBe(200);
    const [{ now }] = (await database.rows<{ now: string }>('select now()::text as now')) as [{ now: string }];
    const joining = start(database.url, '30s');
    const looks = `select pid from pg_stat_activity where query_start > '${now}' and datname = current_database() and query like 'select array(%pg_locks%as writers' and pid <> pg_backend_pid()`;
    const waits = eventually('it waits for the commit', async () => (await database.rows(looks)).length > 0);
    await Promise.race([joining, waits]);
    proxy.release();
    expect((await answer).status).toBe(200);
    const other = await joining;
    await publish(other, 'Other', 'other');
    await eventually('claims go on', () => isDone('other'));
    expect(runs()).toEqual(['start first']);
    expect(await of('first')).toMatchObject([{ state: 'running', is_born: true }]);
    folder.write('gate', '');
    await eventually('both are done', async () => (await isDone('first')) && (await isDone('second')));
    expect(runs()).toEqual(['start first', 'end first', 'start second', 'end second']);
  });
});
