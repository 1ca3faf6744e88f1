import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { changeStored } from './change-stored.js';

const CONFIG = `
agents:
  poisoned:
    consumes: [{ types: [Poison] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./poisoned.js }
`;

/**
 * Each start takes seconds of CPU time, and only the tenth loss differs from the earlier ones, so some of those
 * are enough.
 */
const MADE_UP = 7;

/**
 * Runs the built program as a process that its own agent kills, and its database. Most of the losses are written
 * directly.
 */
describe('an execution that kills its process every time', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let service: Service | undefined;

  beforeAll(async () => {
    await builtProgram();
    folder.write('starling.yaml', CONFIG);
    database = await databaseOf(folder.path);
    folder.write('poisoned.js', `export default async () => process.kill(process.pid, 'SIGKILL');`);
  });

  afterAll(async () => {
    await service?.kill();
    folder.remove();
  });

  it('fails after ten expired leases, and the service continues', async () => {
    const start = (): Promise<Service> =>
      Service.start([
        '--config',
        `${folder.path}/starling.yaml`,
        '--database-url',
        database.url,
        '--lease',
        '1s',
        '--log-level',
        'warn',
      ]);
    service = await start();
    // It may die before it has answered.
    const publish = fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': 'poison' },
      body: JSON.stringify({ type: 'Poison', payload: {} }),
    });
    await publish.catch(() => undefined);
    let starts = 1;
    await eventually('the poison has killed it', () => service!.hasEnded);
    await changeStored(database.url, `update executions set lost_leases = ${MADE_UP}`);
    for (let alive = false; !alive;) {
      starts += 1;
      expect(starts).toBeLessThanOrEqual(11 - MADE_UP);
      service = await start().catch((error: Error) => {
        // The poison may kill it before it is ready.
        if (!error.message.includes('(SIGKILL)')) throw error;
        return service;
      });
      await eventually(
        'it dies again, or the execution has failed',
        async () => service!.hasEnded || (alive = await isOver(service!)),
      );
    }
    expect(starts).toBe(11 - MADE_UP);
    const { items } = await service!.get<{ items: { type: string; payload: object }[] }>(
      '/api/v1/artifacts?correlation_id=poison',
    );
    expect(items.map(({ type }) => type)).toEqual(['Poison', 'WorkflowError']);
    expect(items[1]!.payload).toMatchObject({ failed_agent: 'poisoned', error_type: 'lost', attempts: 1 });
  });
});

const isOver = async (service: Service): Promise<boolean> =>
  (await service.get<{ state: string }>('/api/v1/correlations/poison/status')).state === 'failed';
