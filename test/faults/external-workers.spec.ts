import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/approvals');
const INVOICES = 12;

interface Execution {
  id: string;
  agent: string;
  correlation_id: string;
  state: string;
  claimed_by: string | null;
}

/** Runs the built program, its database and the example's workers, all as processes, and SIGKILL. Nothing is faked. */
describe('an external queue', () => {
  const folder = new ConfigurationFolder();
  const children: ChildProcess[] = [];
  let database: TestDatabase;
  let service: Service;

  const start = (readerTimeout = '2s'): Promise<Service> =>
    Service.start(
      ['--config', `${EXAMPLE}/starling.yaml`, '--database-url', database.url, '--lease', '1s', '--log-level', 'warn'],
      { READER_TIMEOUT: readerTimeout },
    );

  beforeAll(async () => {
    database = await databaseOf(folder.path);
    // A worker that is held up by a busy machine keeps what it has claimed.
    service = await start('1m');
  });

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await service?.kill();
    await database?.drop();
    folder.remove();
  });

  function worker(name: string, workMs: number): ChildProcess {
    const env = { PATH: process.env.PATH, STARLING_URL: service.url, WORKER: name, WORK_MS: String(workMs) };
    const child = spawn(process.execPath, [`${EXAMPLE}/worker.mjs`], { env, stdio: 'ignore' });
    children.push(child);
    return child;
  }

  async function post<T>(path: string, body: object, correlation?: string): Promise<T> {
    const headers = { 'Content-Type': 'application/json', ...(correlation && { 'X-Correlation-ID': correlation }) };
    const response = await fetch(`${service.url}/api/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  }

  const executions = async (query: string): Promise<Execution[]> =>
    (await service.get<{ items: Execution[] }>(`/api/v1/executions?limit=500&${query}`)).items;

  async function approve(id: string, { lease_token }: { lease_token: string }): Promise<void> {
    await post(`executions/${id}/complete`, { lease_token, output: { approved: true } });
  }

  it('gets back immediately the executions of a worker that stops orderly', async () => {
    const leaving = worker('leaving', 3_600_000);
    await post('artifacts', { type: 'Invoice', payload: { lines: [{ text: 'a', amount: 1 }] } }, 'invoice-left');
    let theirs: Execution | undefined;
    await eventually(
      'the worker holds it',
      async () => ([theirs] = await executions('state=running&agent=reader')).length > 0,
    );
    const gone = once(leaving, 'exit');
    leaving.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
    expect(await service.get(`/api/v1/executions/${theirs!.id}`)).toMatchObject({
      state: 'pending',
      attempt: 1,
      lost_leases: 0,
      claimed_by: null,
    });
    const {
      executions: [held],
    } = await post<{ executions: { execution_id: string; lease_token: string }[] }>('executions/claim', {
      agents: ['reader'],
    });
    expect(held!.execution_id).toBe(theirs!.id);
    await post(`executions/${theirs!.id}/complete`, { lease_token: held!.lease_token, output: { total: 1 } });
  });

  it('is drained by workers and a person, whichever processes are killed meanwhile: nothing is lost and nothing done twice', async () => {
    await service.kill('SIGTERM');
    service = await start();
    const idle = worker('stuck', 3_600_000);
    const correlations = Array.from({ length: INVOICES }, (_, n) => `invoice-${n}`);
    for (const correlation of correlations)
      await post(
        'artifacts',
        {
          type: 'Invoice',
          payload: {
            lines: [
              { text: 'a', amount: 100 },
              { text: 'b', amount: 1 },
            ],
          },
        },
        correlation,
      );
    let stuck: Execution | undefined;
    await eventually(
      'a worker holds one',
      async () => ([stuck] = await executions('state=running&agent=reader')).length > 0,
    );
    expect(stuck).toMatchObject({ claimed_by: 'stuck' });
    for (const name of ['quick', 'slow']) worker(name, name === 'quick' ? 0 : 5);
    const gone = once(idle, 'exit');
    idle.kill('SIGKILL');
    await gone;

    // A person claims one, and the service is killed meanwhile.
    let mine: Execution | undefined;
    await eventually(
      'a person has something to do',
      async () => ([mine] = await executions('state=pending&assignee=anna')).length > 0,
    );
    const lease = await post<{ lease_token: string }>(`executions/${mine!.id}/claim`, { claimed_by: 'anna' });
    await eventually(
      'the others have been read',
      async () => (await executions('state=completed&agent=reader')).length >= INVOICES - 1,
    );
    await service.kill('SIGKILL');
    service = await start();
    worker('late', 0);
    expect((await executions('state=running&agent=approver')).map(({ id }) => id)).toEqual([mine!.id]);
    await approve(mine!.id, lease);

    let approved = 1;
    await eventually('the person has approved all', async () => {
      for (const { id } of await executions('state=pending&assignee=anna')) {
        await approve(id, await post(`executions/${id}/claim`, { claimed_by: 'anna' }));
        approved += 1;
      }
      return approved === INVOICES;
    });
    for (const correlation of correlations) {
      await eventually(
        `${correlation} has finished`,
        async () =>
          (await service.get<{ state: string }>(`/api/v1/correlations/${correlation}/status`)).state === 'completed',
      );
      const { items } = await service.get<{ items: { type: string }[] }>(
        `/api/v1/artifacts?correlation_id=${correlation}`,
      );
      expect(items.map(({ type }) => type)).toEqual(['Invoice', 'Reading', 'Approval', 'Payment']);
    }
    expect(await service.get(`/api/v1/executions/${stuck!.id}`)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(await service.get(`/api/v1/executions/${mine!.id}`)).toMatchObject({
      state: 'completed',
      claimed_by: 'anna',
      lost_leases: 0,
    });
  });
});
