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
  innocent:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: function, module: ./innocent.js }
  computing:
    consumes: [{ types: [Answer] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./poisoned.js, pure: true }
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
    folder.write('innocent.js', 'export default async ([{ payload }]) => payload;');
  });

  afterEach(() => service?.kill());

  afterAll(() => folder.remove());

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

  /** Starts again after it has died, which it may before it is ready. */
  const restart = async (): Promise<void> => {
    await eventually('the poison has killed it', () => service!.hasEnded);
    service = await start().catch((error: Error) => {
      if (!error.message.includes('(SIGKILL)')) throw error;
      return service;
    });
  };

  const publish = async (type: string): Promise<void> => {
    service = await start();
    // It may die before it has answered.
    const published = fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': type },
      body: JSON.stringify({ type, payload: {} }),
    });
    await published.catch(() => undefined);
    await eventually('the poison has killed it', () => service!.hasEnded);
  };

  it('fails after ten expired leases, and the service continues', async () => {
    await publish('Poison');
    let starts = 1;
    await changeStored(database.url, `update executions set lost_leases = ${MADE_UP}`);
    for (let alive = false; !alive;) {
      starts += 1;
      expect(starts).toBeLessThanOrEqual(11 - MADE_UP);
      await restart();
      await eventually(
        'it dies again, or the execution has failed',
        async () => service!.hasEnded || (alive = await isOver(service!)),
      );
    }
    expect(starts).toBe(11 - MADE_UP);
    const { items } = await service!.get<{ items: { type: string; payload: object }[] }>(
      '/api/v1/artifacts?correlation_id=Poison',
    );
    expect(items.map(({ type }) => type)).toEqual(['Poison', 'WorkflowError']);
    expect(items.at(-1)!.payload).toMatchObject({ failed_agent: 'poisoned', error_type: 'lost', attempts: 1 });
  });

  it('kills it before the agent that triggers it has ended, and does not keep that one from ending', async () => {
    await publish('Question');
    const ended = (): Promise<{ state: string }[]> =>
      database.look((rows) => rows(`select state from executions where agent = 'innocent' and state = 'completed'`));
    expect(await ended()).toEqual([]);
    await restart();
    await eventually('the other one has ended', async () => (await ended()).length === 1);
  });
});

const isOver = async (service: Service): Promise<boolean> =>
  (await service.get<{ state: string }>('/api/v1/correlations/Poison/status')).state === 'failed';
