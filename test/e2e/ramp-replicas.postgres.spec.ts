// Variants of agents in three processes. Uses the built program and one Postgres. The processes are killed.
import type { AgentsBody } from '../../src/features/agents/dto/agents-body.js';
import type { CorrelationStatusBody } from '../../src/features/correlations/dto/correlation-status-body.js';
import type { ListedExecutionBody } from '../../src/features/executions/dto/execution-body.js';
import type { ArtifactBody } from '../../src/http/dto/artifact-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const STEPS = 8;

/** Three failures of `doomed` roll its variant back, and its own options always work. `stepper` begins again with its output. */
const CONFIG = `agents:
  doomed:
    consumes: [{ types: [Doomed] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: "{'by': 'base'}" }
    retry: { attempts: 1 }
    variants: { named: { share: 100%, expression: "{'by': payload.name}" } }
    rollback: { failures: 30%, of: 10 }
  stepper:
    consumes: [{ types: [Step], where: payload.n < ${STEPS}.0, allow_self: true }]
    publishes: [{ type: Step }]
    engine: { kind: expression, expression: "{'n': payload.n + 1.0, 'by': 'base'}" }
    variants: { other: { share: 50%, expression: "{'n': payload.n + 1.0, 'by': 'other'}" } }
`;

describe('the variants of three processes', () => {
  const folder = new ConfigurationFolder();
  const services: Service[] = [];
  let database: TestDatabase;

  const start = (): Promise<Service> =>
    Service.start(['--config', folder.write('starling.yaml', CONFIG), '--database-url', database.url, '--lease', '5s']);

  beforeAll(async () => {
    database = await databaseOf(folder.path);
    for (let n = 0; n < 3; n += 1) services.push(await start());
  });
  afterAll(async () => {
    for (const service of services) await service.kill();
    await database?.drop();
    folder.remove();
  });

  const publish = async (service: Service, correlation: string, type = 'Doomed', payload = {}): Promise<void> => {
    const { status } = await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': correlation },
      body: JSON.stringify({ type, payload }),
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
    const failed = "select variant from executions where state = 'failed'";
    expect(await database.rows(failed)).toEqual([{ variant: 'named' }, { variant: 'named' }, { variant: 'named' }]);
  });

  it('are the same in a whole cascade, whichever processes run it and are killed meanwhile', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `cascade-${n}`);
    await Promise.all(names.map((name, n) => publish(services[1 + (n % 2)]!, name, 'Step', { n: 0, by: 'client' })));
    await restart(0);
    const seen: unknown[] = [];
    for (const name of names) {
      await eventually(`${name} has settled`, async () => {
        const path = `/api/v1/correlations/${name}/status`;
        return (await services[0]!.get<CorrelationStatusBody>(path)).state === 'completed';
      });
      const path = `/api/v1/artifacts?correlation_id=${name}&limit=500`;
      const { items } = await services[0]!.get<{ items: ArtifactBody[] }>(path);
      const variants = items.filter(({ produced_by }) => produced_by === 'stepper').map(({ payload }) => payload.by);
      expect(variants).toEqual(Array(STEPS).fill(variants[0]));
      seen.push(variants[0]);
    }
    expect(new Set(seen)).toEqual(new Set(['base', 'other']));
  });
});
