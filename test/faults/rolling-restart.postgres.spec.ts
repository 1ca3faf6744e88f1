import { setTimeout as delay } from 'node:timers/promises';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Replica } from './replicas/replica.js';

const SLOW = `export default async ([{ payload }]) => { await new Promise((resolve) => setTimeout(resolve, 100)); return { n: payload.n }; };`;

const slow = (consumes: string): string =>
  `{ consumes: [{ types: [${consumes}] }], publishes: [{ type: Done }], engine: { kind: function, module: ./slow.mjs }, concurrency: 2 }`;
const TYPES = 'types: { Order: {}, Early: {}, Late: {}, Left: {}, Right: {}, Event: {} }';

/** Agents of both configurations, at another place in each. */
const A = `${TYPES}
agents:
  both: ${slow('Order')}
  early: ${slow('Early')}
  pairer: { consumes: [{ types: [Left, Right], join: { within: 5m } }, { types: [Event], batch: { size: 1000, timeout: 6s } }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"ok": true}' } }
`;
const B = `${TYPES}
agents:
  late: ${slow('Late')}
  pairer: { consumes: [{ types: [Early, Late] }, { types: [Left, Right], join: { within: 5m } }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"ok": true}' } }
  both: ${slow('Order')}
`;

const RUNS = 25;
/** So many more are started while the agent is paused, since the others may have ended on a busy machine. */
const PAUSED_RUNS = 5;

/** Runs two services as processes on one Postgres, HTTP and signals. Nothing is faked. */
describe('a rolling restart with another configuration, and back', () => {
  const folder = new ConfigurationFolder();
  const replicas: Replica[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    await builtProgram();
    database = await databaseOf(folder.path);
    folder.write('slow.mjs', SLOW);
    folder.write('a.yaml', A);
    folder.write('b.yaml', B);
  });

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.retire()));
    await database.drop();
    folder.remove();
  });

  const replicaOf = async (name: string, configuration: 'a' | 'b'): Promise<Replica> => {
    const replica = new Replica(name, [
      '--config',
      `${folder.path}/${configuration}.yaml`,
      '--database-url',
      database.url,
      '--lease',
      '2s',
      '--shutdown-grace',
      '200ms',
      '--log-level',
      'warn',
    ]);
    replicas.push(replica);
    await replica.start();
    return replica;
  };
  const post = async (
    replica: Replica,
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Record<string, string>> => {
    const response = await fetch(`${replica.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, string>;
    expect([response.status, answer]).toEqual([200, expect.anything()]);
    return answer;
  };
  const pause = (replica: Replica, agent: string): Promise<unknown> =>
    post(replica, `/api/v1/agents/${agent}/pause`, {});
  const resume = (replica: Replica, agent: string): Promise<unknown> =>
    post(replica, `/api/v1/agents/${agent}/resume`, {});
  const get = async <T>(replica: Replica, path: string): Promise<T> =>
    (await (await fetch(`${replica.url}${path}`)).json()) as T;

  it('fails nothing and loses nothing that waits for either configuration', async () => {
    const running = [await replicaOf('one with A', 'a'), await replicaOf('two with A', 'a')];
    const runs: string[] = [];
    const orders: string[] = [];
    const startRuns = async (replica: Replica, agent: string, count = RUNS): Promise<void> => {
      for (let n = 0; n < count; n += 1)
        runs.push((await post(replica, '/run/flock', { agent_name: agent, inputs: { n }, async_run: true })).run_id!);
    };
    const publish = (replica: Replica, type: string, correlation: string): Promise<unknown> =>
      post(replica, '/api/v1/artifacts', { type, payload: { n: 1 } }, { 'X-Correlation-ID': correlation });
    const roll = async (index: number, configuration: 'a' | 'b'): Promise<void> => {
      const old = running.splice(index, 1)[0]!;
      expect(await old.end()).toBe(0);
      running.splice(index, 0, await replicaOf(`${index} with ${configuration}`, configuration));
    };
    const lacking = async (): Promise<Set<string>> =>
      new Set(
        (
          await get<{ items: { agent: string }[] }>(running[0]!, '/api/v1/executions?without_agent=true&limit=500')
        ).items.map(({ agent }) => agent),
      );

    // Clients publish types of both configurations to any process that is up.
    let isOver = false;
    const load = (async () => {
      for (let n = 0; !isOver; n += 1) {
        const id = `order-${n}`;
        const up = running.filter(({ isUp }) => isUp);
        // A stopping process refuses, or does not answer: what it did not acknowledge need not exist.
        const response = await fetch(`${up[n % up.length]?.url}/api/v1/artifacts`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': id },
          body: JSON.stringify({ type: 'Order', payload: { n } }),
        }).catch(() => null);
        if (response?.status === 200) orders.push(id);
        await response?.arrayBuffer().catch(() => undefined);
        await delay(75);
      }
    })();

    await startRuns(running[0]!, 'early');
    await pause(running[0]!, 'early');
    await startRuns(running[0]!, 'early', PAUSED_RUNS);
    await publish(running[0]!, 'Left', 'pair');
    await roll(0, 'b');
    await startRuns(running[0]!, 'late');
    await publish(running[1]!, 'Event', 'event');
    await roll(1, 'b');
    await eventually('what waits for A alone is shown', async () => (await lacking()).has('early'));
    expect(await get(running[1]!, '/api/v1/correlations/event/status')).toMatchObject({
      state: 'active',
      error_count: 0,
      waiting_for_agents: ['pairer'],
    });
    await eventually(
      "the window's time has passed",
      async () =>
        (await database.rows(`select id from timers where kind = 'close' and was_due_at is not null`)).length === 1,
    );
    expect(await get(running[1]!, '/api/v1/correlations/event/status')).toMatchObject({
      state: 'active',
      error_count: 0,
    });
    await startRuns(running[0]!, 'late');
    await pause(running[0]!, 'late');
    await startRuns(running[0]!, 'late', PAUSED_RUNS);
    await roll(0, 'a');
    await resume(running[0]!, 'early');
    await startRuns(running[0]!, 'early');
    await roll(1, 'a');
    await eventually('what waits for B alone is shown', async () => (await lacking()).has('late'));
    await publish(running[1]!, 'Right', 'pair');
    await roll(1, 'b');
    await resume(running[1]!, 'late');
    isOver = true;
    await load;

    await eventually('everything has finished', async () => {
      const { items } = await get<{ items: object[] }>(running[0]!, '/api/v1/executions?state=pending&limit=1');
      const { items: still } = await get<{ items: object[] }>(running[0]!, '/api/v1/executions?state=running&limit=1');
      return items.length + still.length === 0;
    });
    expect(orders.length).toBeGreaterThan(20);
    const rows = await database.rows<{ id: string; status: string }>('select id, status from runs');
    expect(runs.filter((id) => rows.find((row) => row.id === id)?.status !== 'completed')).toEqual([]);
    for (const id of [...orders, 'pair', 'event']) {
      const [correlation] = await database.rows<object>(
        `select state, error_count, output_count from correlations where id = '${id}'`,
      );
      expect([id, correlation]).toEqual([id, { state: 'completed', error_count: 0, output_count: 1 }]);
    }
    expect(await database.rows(`select id from artifacts where type = 'WorkflowError'`)).toEqual([]);
    expect(await database.rows(`select id from executions where state <> 'completed'`)).toEqual([]);
    expect(await database.rows('select id from timers')).toEqual([]);
    expect(replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
  }, 240_000);
});
