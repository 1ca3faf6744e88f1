import type { Operation } from '../e2e/operations.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
types: { Parcel: {} }
agents:
  spreader: { consumes: [{ types: [Spread] }], publishes: [{ type: Parcel }], engine: { kind: expression, expression: 'payload.list.map(n, {"n": n})' } }
  packer: { consumes: [{ types: [Parcel] }], publishes: [{ type: Packed }], engine: { kind: expression, expression: payload.missing }, retry: { attempts: 1 } }
`;

const CORRELATIONS = ['one', 'two'];
const PARCELS = 800;
/** The operation waits when so many are retried, so that it is never over before the kill, however late that comes. */
const MOST_PENDING = 1_200;

/** Runs the built program, killed with SIGKILL twice while it retries many executions. */
it('an operation continues after a crash, and retries each execution once', async () => {
  const folder = new ConfigurationFolder();
  const database = await databaseOf(folder.path);
  const file = folder.write('starling.yaml', CONFIG);
  const args = ['--config', file, '--database-url', database.url, '--lease', '1s', '--log-level', 'warn'];
  const start = (): Promise<Service> => Service.start([...args, '--max-pending-executions', String(MOST_PENDING)]);
  const post = async (service: Service, path: string, body: object, correlation = ''): Promise<unknown> => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(correlation && { 'X-Correlation-ID': correlation }) },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  const count = async (where: string): Promise<number> => {
    const [row] = await database.rows<{ count: number | string }>(
      `select count(*) as count from executions where agent = 'packer' and ${where}`,
    );
    return Number(row!.count);
  };

  let service = await start();
  try {
    const list = Array.from({ length: PARCELS }, (_, n) => n);
    for (const correlation of CORRELATIONS)
      await post(service, '/api/v1/artifacts', { type: 'Spread', payload: { list } }, correlation);
    const total = PARCELS * CORRELATIONS.length;
    await eventually('all of them have failed', async () => (await count("state = 'failed'")) === total);
    // Retried executions wait.
    await post(service, '/api/v1/agents/packer/pause', {});
    const { operation_id, matched } = (await post(service, '/api/v1/executions/retry', {
      agent: 'packer',
    })) as Operation;
    expect(matched).toBe(total);
    for (const share of [0, 0.5]) {
      await eventually('some are retried', async () => (await count('round = 1')) > share * total);
      await service.kill();
      expect(await count('round = 0')).toBeGreaterThan(0);
      service = await (share === 0 ? start() : Service.start(args));
    }
    let operation = {} as Operation;
    await eventually('the operation has ended', async () => {
      operation = (await service.get(`/api/v1/operations/${operation_id}`)) as Operation;
      return operation.state !== 'running';
    });
    expect(operation).toMatchObject({ state: 'completed', matched: total, done: total, failed: 0 });
    expect(await count("round = 1 and state = 'pending'")).toBe(total);
    expect(await service.get('/api/v1/executions/failures')).toMatchObject({ items: [] });
  } finally {
    await service.kill();
    await database.drop();
    folder.remove();
  }
}, 240_000);
