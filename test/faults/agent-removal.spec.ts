import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

interface Operation {
  operation_id: string;
  state: string;
  matched: number;
}

const SPREADER = `
types: { Parcel: {} }
agents:
  spreader: { consumes: [{ types: [Spread] }], publishes: [{ type: Parcel }], engine: { kind: expression, expression: 'payload.list.map(n, {"n": n})' } }
`;
const PACKER = `${SPREADER}  packer: { consumes: [{ types: [Parcel] }], publishes: [{ type: Packed }], engine: { kind: external } }\n`;

const CORRELATIONS = ['one', 'two', 'three'];
const PARCELS = 900;
const MOST_TRIES = 5;

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
  const end = async (service: Service): Promise<Operation> => {
    const response = await post(service, '/api/v1/executions/fail', { agent: 'packer' });
    expect(response.status).toBe(200);
    return (await response.json()) as Operation;
  };

  let service = await start(PACKER);
  try {
    const correlations: string[] = [];
    const each = PARCELS * CORRELATIONS.length;
    let total = 0;
    let id = '';
    for (let tries = 1; ; tries += 1) {
      for (const correlation of CORRELATIONS.map((name) => `${name}-${tries}`)) {
        const body = { type: 'Spread', payload: { list: Array.from({ length: PARCELS }, (_, n) => n) } };
        expect((await post(service, '/api/v1/artifacts', body, { 'X-Correlation-ID': correlation })).status).toBe(200);
        correlations.push(correlation);
      }
      const before = total;
      total += each;
      await eventually('all of them wait', async () => (await count('pending')) === each);
      expect(await service.kill('SIGTERM')).toBe(0);

      service = await start(SPREADER);
      const { operation_id, matched } = await end(service);
      expect(matched).toBe(each);
      id = operation_id;
      await eventually('some have failed', async () => (await count('failed')) > before);
      await service.kill();
      if ((await count('failed')) < total) break;
      // On a busy machine, all may have failed before the kill.
      expect(tries).toBeLessThan(MOST_TRIES);
      service = await start(PACKER);
    }

    service = await start(SPREADER);
    await eventually('all that is left has failed', async () => {
      expect(await count('failed')).toBe(total);
      return true;
    });
    await eventually('the operation has ended', async () => {
      const operation = (await service.get(`/api/v1/operations/${id}`)) as Operation;
      if (operation.state === 'running') return false;
      expect(operation).toMatchObject({ state: 'completed', matched: each, done: each, failed: 0 });
      return true;
    });
    const errors = await database.rows<{ execution_id: string }>(
      `select execution_id from artifacts where type = 'WorkflowError'`,
    );
    expect([errors.length, new Set(errors.map(({ execution_id }) => execution_id)).size]).toEqual([total, total]);
    for (const correlation of correlations) {
      expect(await service.get(`/api/v1/correlations/${correlation}/status`)).toMatchObject({
        state: 'completed',
        has_pending_work: false,
        error_count: PARCELS,
      });
    }
    expect(await end(service)).toMatchObject({ matched: 0 });
  } finally {
    await service.kill();
    await database.drop();
    folder.remove();
  }
}, 240_000);
