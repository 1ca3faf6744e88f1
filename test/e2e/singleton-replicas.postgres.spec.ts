import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { Replicas, withoutPolling, WORKER } from './replica-boards.js';

const agent = (name: string, onConflict: string): string =>
  `  ${name}: { consumes: [{ types: [For_${name}] }], singleton: { key: payload.key, on_conflict: ${onConflict} }, engine: { kind: external }, retry: { attempts: 1 }, concurrency: 100 }`;

const AGENTS = [...['skip', 'cancel_running', 'queue'].map((each) => agent(each, each)), agent('again', 'queue')];
const CONFIG = `agents:\n${AGENTS.join('\n')}\n`;
const OTHER_CONFIG = 'agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n';
const KEYS = 20;

interface Execution {
  id: string;
  state: string;
  correlation_id: string;
  skipped_for?: string;
  cancelled_by?: string;
}

/** Uses three apps over HTTP on one Postgres, to which artifacts are published at the same moments. */
describe('three processes to which artifacts with the same key come at the same time', () => {
  const replicas = new Replicas();
  const boards: Board[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 3; n += 1) boards.push(await replicas.start(CONFIG, { role: WORKER }));
  });
  afterAll(() => replicas.close());

  /** Publishes to all of them in parallel, and returns the executions of each key. */
  const published = async (name: string): Promise<Execution[][]> => {
    const found: Execution[][] = [];
    for (let key = 0; key < KEYS; key += 1) {
      const ids = await Promise.all(boards.map((board) => board.publish(`For_${name}`, { key })));
      found.push(await of(ids));
    }
    return found;
  };

  const of = (correlations: readonly string[]): Promise<Execution[]> =>
    Promise.all(
      correlations.map(async (correlation_id) => {
        const { body } = await boards[0]!.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
        return (body as { items: Execution[] }).items[0]!;
      }),
    );

  const claimable = async (name: string): Promise<string[]> => {
    const { body } = await boards[0]!.http
      .post('/api/v1/executions/claim')
      .send({ agents: [name], max: 100 })
      .expect(200);
    return (body as { executions: { execution_id: string }[] }).executions.map(({ execution_id: id }) => id);
  };

  it('skip all but one', async () => {
    for (const executions of await published('skip')) {
      const [one, ...others] = executions.filter(({ state }) => state === 'pending');
      expect(others).toEqual([]);
      const skipped = executions.filter(({ state }) => state === 'cancelled');
      expect(skipped.map(({ skipped_for }) => skipped_for)).toEqual([one!.id, one!.id]);
    }
  });

  it('cancel all but one', async () => {
    for (const executions of await published('cancel_running')) {
      const ids = executions.map(({ correlation_id: id }) => id);
      await eventually(
        'two are cancelled',
        async () => (await of(ids)).filter(({ state }) => state === 'cancelled').length === 2,
      );
      const cancelled = (await of(ids)).filter(({ state }) => state === 'cancelled');
      for (const { cancelled_by } of cancelled) expect(cancelled_by).toEqual(expect.any(String));
    }
    const claimed: string[] = [];
    await eventually('the last one of each has its turn', async () => {
      claimed.push(...(await claimable('cancel_running')));
      return claimed.length === KEYS;
    });
  });

  it('let one of each key be claimed', async () => {
    const executions = await published('queue');
    const claimed = await claimable('queue');
    expect(claimed).toHaveLength(KEYS);
    for (const some of executions) expect(some.filter(({ id }) => claimed.includes(id))).toHaveLength(1);
  });

  it('let one wait for its turn that a process without the agent retries', async () => {
    const board = boards[0]!;
    const outside = new Outside(board.http);
    const ids = [await board.publish('For_again', { key: 1 }), await board.publish('For_again', { key: 1 })];
    const first = await outside.claimOne({ agents: ['again'] });
    await outside.send(first, 'fail', { error_message: 'It cannot be done.', final: true });
    let second: Held[] = [];
    await eventually('the other one has its turn', async () => {
      second = await outside.claim({ agents: ['again'] });
      return second.length === 1;
    });
    expect([first, ...second].map(({ correlation_id: id }) => id)).toEqual(ids);
    const other = await replicas.start(OTHER_CONFIG, { role: WORKER });
    await other.http.post(`/api/v1/executions/${first.execution_id}/retry`).expect(200);
    const { body } = await board.http.get(`/api/v1/correlations/${ids[0]}/waiting`).expect(200);
    expect((body as { items: object[] }).items).toMatchObject([
      { kind: 'limit', limit: 'singleton of again: 1 of 1 used, 1st of 1 for key 1' },
    ]);
    await outside.send(second[0]!, 'complete', { outputs: [] });
    await eventually('the first one has its turn again', async () => {
      const [again] = await outside.claim({ agents: ['again'] });
      return again?.execution_id === first.execution_id;
    });
  });
});

it('one that is stored while the turn of its key becomes free gets it without a poll', async () => {
  const replicas = new Replicas();
  const boards = [await replicas.start(CONFIG, { role: WORKER }), await replicas.start(CONFIG, { role: WORKER })];
  const [publisher, worker] = boards.map(withoutPolling) as [Board, Board];
  const outside = new Outside(worker.http);
  const other = await publisher.publish('For_queue', { key: 'other' });
  const otherHeld = await outside.claimOne({ agents: ['queue'] });
  const next = await publisher.publish('For_queue', { key: 'other' });
  const first = await publisher.publish('For_queue', { key: 'one' });
  const held = await outside.claimOne({ agents: ['queue'] });
  expect([otherHeld, held].map(({ correlation_id: id }) => id)).toEqual([other, first]);

  const send = (): Promise<{ status: number }> =>
    Promise.resolve(publisher.http.post('/api/v1/artifacts').send({ type: 'For_queue', payload: { key: 'one' } }));
  const { status } = await connected(publisher.app.database.url, async (client) => {
    await client.query('begin');
    await client.query('lock table execution_inputs in share row exclusive mode');
    const sending = send();
    await eventually('it waits to be stored, after it has seen that the turn is taken', async () => {
      const { rows } = await client.query(
        `select 1 from pg_locks where relation = 'execution_inputs'::regclass and not granted`,
      );
      return rows.length > 0;
    });
    await outside.send(held, 'complete', { outputs: [] });
    await outside.send(otherHeld, 'complete', { outputs: [] });
    // Then the loop that passes turns on has looked at both keys.
    await eventually('the next one of the other key has its turn', async () => {
      const [one] = await outside.claim({ agents: ['queue'] });
      return one?.correlation_id === next;
    });
    await client.query('commit');
    return sending;
  });
  // A slow machine may have given the lock up, and then nothing was stored.
  if (status !== 200) expect((await send()).status).toBe(200);
  let second: Held[] = [];
  await eventually('it has its turn', async () => {
    second = await outside.claim({ agents: ['queue'] });
    return second.length === 1;
  });
  expect(second[0]!.inputs[0]!.payload).toEqual({ key: 'one' });
  await replicas.close();
});
