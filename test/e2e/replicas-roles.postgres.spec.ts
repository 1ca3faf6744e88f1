import { join } from 'node:path';

import { StartedProgram } from '../cli/started-program.js';
import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Receiver } from '../support/receiver.js';
import { Service } from '../support/service.js';

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: expression, expression: '{"n": payload.n * 2.0}' }
`;

/** Uses the program as two processes, one for each role, on one Postgres. */
describe('starling serve --no-worker and starling worker', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let server: Service;
  let worker: StartedProgram | undefined;
  let receiver: Receiver;

  beforeAll(async () => {
    await builtProgram();
    database = await databaseOf(folder.path);
    folder.write('starling.yaml', CONFIG);
    receiver = await Receiver.start();
    server = await Service.start(['--no-worker', ...options()]);
  });

  afterAll(async () => {
    await server.kill();
    worker?.process.kill('SIGKILL');
    await worker?.ended;
    await receiver.close();
    await database.drop();
    folder.remove();
  });

  const options = (): string[] => [
    '--config',
    join(folder.path, 'starling.yaml'),
    '--database-url',
    database.url,
    '--webhook-url',
    receiver.url('/hook'),
  ];

  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  };

  const publish = (timeout: number) =>
    post<{ completed: boolean; artifacts: { payload: object }[] }>('/api/v1/artifacts/sync', {
      type: 'Number',
      payload: { n: 21 },
      timeout,
    });

  const run = async (): Promise<string> =>
    (await post<{ run_id: string }>('/run/flock', { agent_name: 'double', inputs: { n: 1 }, async_run: true })).run_id;

  const statusOf = async (id: string): Promise<string> => (await server.get<{ status: string }>(`/run/${id}`)).status;

  const deliveries = async (state: string): Promise<number> =>
    (await server.get<{ items: object[] }>(`/api/v1/webhooks/deliveries?state=${state}&limit=500`)).items.length;

  it('do together what serve does alone', async () => {
    const waiting = await run();
    expect(await publish(1)).toMatchObject({ completed: false, artifacts: [] });
    expect(await statusOf(waiting)).toBe('starting');
    expect(await deliveries('pending')).toBeGreaterThan(0);
    expect(receiver.received).toEqual([]);

    worker = await StartedProgram.start(['worker', '--port', '0', ...options()]);
    expect(await publish(60)).toMatchObject({ completed: true, artifacts: [{ payload: { n: 42 } }] });
    await eventually('the waiting correlation has finished', async () => (await statusOf(waiting)) === 'completed');
    await eventually(
      'all that was published is delivered',
      async () => (await deliveries('pending')) + (await deliveries('waiting')) === 0,
    );
    const delivered = await deliveries('delivered');
    expect(receiver.received.length).toBeGreaterThanOrEqual(delivered);
    await eventually('the worker has printed its address', () => /health at (http\S+)\/health/.test(worker!.stderr));
    const url = /health at (http\S+)\/health/.exec(worker.stderr)![1]!;
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${url}/api/v1/artifacts`)).status).toBe(404);

    // Without the worker, the server continues to accept requests.
    worker.process.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(await statusOf(await run())).toBe('starting');
    expect(await server.kill('SIGTERM')).toBe(0);
  });
});
