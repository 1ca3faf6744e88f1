// A variant that is rolled back in three processes. Uses the built program and one Postgres. The processes are killed.
import type { AgentsBody } from '../../src/features/agents/dto/agents-body.js';
import type { ListedExecutionBody } from '../../src/features/executions/dto/execution-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

/** Three failures. The agent's own options always work. */
const CONFIG = `agents:
  doomed:
    consumes: [{ types: [Doomed] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: "{'by': 'base'}" }
    retry: { attempts: 1 }
    variants: { named: { share: 100%, expression: "{'by': payload.name}" } }
    rollback: { failures: 30%, of: 10 }
`;

describe('the variants of three processes', () => {
  const folder = new ConfigurationFolder();
  const services: Service[] = [];
  let database: TestDatabase;

  const start = (): Promise<Service> =>
    Service.start(['--config', folder.write('starling.yaml', CONFIG), '--database-url', database.url]);

  beforeAll(async () => {
    database = await databaseOf(folder.path);
    for (let n = 0; n < 3; n += 1) services.push(await start());
  });
  afterAll(async () => {
    for (const service of services) await service.kill();
    await database?.drop();
    folder.remove();
  });

  const publish = async (service: Service, correlation: string): Promise<void> => {
    const { status } = await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': correlation },
      body: JSON.stringify({ type: 'Doomed', payload: {} }),
    });
    expect(status).toBe(200);
  };

  /** Waits until the execution of the correlation has ended. */
  const executed = async (correlation: string): Promise<ListedExecutionBody> => {
    let found: ListedExecutionBody | undefined;
    await eventually(`${correlation} has ended`, async () => {
      const path = `/api/v1/executions?correlation_id=${correlation}`;
      [found] = (await services[0]!.get<{ items: ListedExecutionBody[] }>(path)).items;
      return found !== undefined && found.ended_at !== null;
    });
    return found!;
  };

  const rolledBack = (): Promise<(string | null)[]> =>
    Promise.all(
      services.map(async (service) => {
        const { agents } = await service.get<AgentsBody>('/api/v1/agents');
        return agents[0]!.variants!.items[0]!.rolled_back_at;
      }),
    );

  const restart = async (index: number): Promise<void> => {
    await services[index]!.kill('SIGKILL');
    services[index] = await start();
  };

  it('are counted together and rolled back together, whichever process fails, is killed or starts again', async () => {
    for (let n = 0; n < 2; n += 1) {
      await publish(services[n]!, `failing-${n}`);
      expect(await executed(`failing-${n}`)).toMatchObject({ state: 'failed', variant: 'named' });
      await restart(n);
    }
    expect(await rolledBack()).toEqual([null, null, null]);
    await publish(services[2]!, 'failing-2');
    expect(await executed('failing-2')).toMatchObject({ state: 'failed', variant: 'named' });
    const [since] = await rolledBack();
    expect(await rolledBack()).toEqual([since, since, since]);
    expect(since).not.toBeNull();

    await restart(2);
    expect(await rolledBack()).toEqual([since, since, since]);
    const names = Array.from({ length: 12 }, (_, n) => `later-${n}`);
    await Promise.all(names.map((name, n) => publish(services[n % 3]!, name)));
    for (const name of names) expect(await executed(name)).toMatchObject({ state: 'completed', variant: 'base' });
  });

  it('are rolled back by no more failures than run at the same time', async () => {
    const rows = await database.rows<{ variant: string; count: string | number }>(
      "select variant, count(*) as count from executions where state = 'failed' group by variant",
    );
    expect(rows.map(({ variant, count }) => [variant, Number(count)])).toEqual([['named', 3]]);
  });
});
