import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const SPREADER = `
types: { Parcel: {} }
agents:
  spreader: { consumes: [{ types: [Spread] }], publishes: [{ type: Parcel }], engine: { kind: expression, expression: 'payload.list.map(n, {"n": n})' } }
`;
const PACKER = `${SPREADER}  packer: { consumes: [{ types: [Parcel] }], publishes: [{ type: Packed }], engine: { kind: external } }\n`;

const CORRELATIONS = ['one', 'two', 'three'];
const PARCELS = 900;

/** Runs the built program, killed with SIGKILL while it fails the executions of an agent that no process has. */
it('the executions of an agent that no process has fail once, even if the service is killed meanwhile', async () => {
  const folder = new ConfigurationFolder();
  const database: TestDatabase = await databaseOf(folder.path);
  const start = (config: string): Promise<Service> =>
    Service.start([
      '--config',
      folder.write('starling.yaml', config),
      '--database-url',
      database.url,
      '--lease',
      '1s',
      '--log-level',
      'warn',
    ]);
  const post = (
    service: Service,
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const count = async (state: string): Promise<number> =>
    Number(
      (
        await database.rows<{ count: number }>(
          `select count(*) as count from executions where agent = 'packer' and state = '${state}'`,
        )
      )[0]!.count,
    );
  const end = async (service: Service): Promise<number> => {
    const response = await post(service, '/api/v1/executions/fail', { agent: 'packer' });
    expect(response.status).toBe(200);
    return ((await response.json()) as { executions: number }).executions;
  };

  let service = await start(PACKER);
  try {
    for (const correlation of CORRELATIONS) {
      const body = { type: 'Spread', payload: { list: Array.from({ length: PARCELS }, (_, n) => n) } };
      expect((await post(service, '/api/v1/artifacts', body, { 'X-Correlation-ID': correlation })).status).toBe(200);
    }
    const total = PARCELS * CORRELATIONS.length;
    await eventually('all of them wait', async () => (await count('pending')) === total);
    expect(await service.kill('SIGTERM')).toBe(0);

    service = await start(SPREADER);
    const unanswered = end(service).catch(() => 'no answer');
    await eventually('some have failed', async () => (await count('failed')) > 0);
    await service.kill();
    expect(await unanswered).toBe('no answer');
    expect(await count('failed')).toBeLessThan(total);

    service = await start(SPREADER);
    await eventually('all that is left has failed', async () => {
      await end(service);
      return (await count('failed')) === total;
    });
    const errors = await database.rows<{ execution_id: string }>(
      `select execution_id from artifacts where type = 'WorkflowError'`,
    );
    expect([errors.length, new Set(errors.map(({ execution_id }) => execution_id)).size]).toEqual([total, total]);
    for (const correlation of CORRELATIONS) {
      expect(await service.get(`/api/v1/correlations/${correlation}/status`)).toMatchObject({
        state: 'completed',
        has_pending_work: false,
        error_count: PARCELS,
      });
    }
    expect(await end(service)).toBe(0);
  } finally {
    await service.kill();
    await database.drop();
    folder.remove();
  }
}, 240_000);
