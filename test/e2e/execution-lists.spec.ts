import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf } from './batch-board.js';
import { Board, type WireArtifact } from './board.js';

const CONFIG = `
agents:
  first: { consumes: [{ types: [Order] }], publishes: [{ type: Checked }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  second: { consumes: [{ types: [Checked] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  unlucky: { consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], engine: { kind: function, module: ./fail.js }, retry: { attempts: 3, delay: 1s, max_delay: 1s } }
  pair: { consumes: [{ types: [Left, Right] }], publishes: [{ type: Joined }, { type: Extra }], engine: { kind: expression, expression: '{"Joined": {"a": payload.Left.n}, "Extra": [{"b": 1}, {"b": 2}]}' } }
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, concurrency: 1, timeout: 1h }
`;

const FILES = {
  'gate.js': GATE,
  'fail.js': `export default async (inputs, { attempt }) => { throw new RangeError('no, ' + attempt + ' times'); };`,
};

interface Attempt {
  round: number;
  attempt: number;
  started_at: string | null;
  ended_at: string | null;
  error_type: string | null;
  error_message: string | null;
}

interface Execution {
  id: string;
  agent: string;
  correlation_id: string;
  state: string;
  attempt: number;
  next_attempt_at: string | null;
  inputs: WireArtifact[];
  outputs: WireArtifact[];
  errors: WireArtifact[];
  attempts: Attempt[];
}

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('executions in the API', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: FILES });
  });

  afterAll(() => board.close());

  const page = async (query: object) => {
    const { body } = await board.http.get('/api/v1/executions').query(query).expect(200);
    return body as { items: Execution[]; pagination: { limit: number; offset: number; has_more: boolean } };
  };
  const list = async (query: object): Promise<Execution[]> => (await page(query)).items;
  const get = async (id: string): Promise<Execution> =>
    (await board.http.get(`/api/v1/executions/${id}`).expect(200)).body as Execution;

  it('are listed newest first, by agent, correlation and state', async () => {
    const orders: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      orders.push(await board.publish('Order', { n }, { correlation: `order-${n}` }));
      await board.ended(orders.at(-1)!);
    }
    const newestFirst = [...orders].reverse();
    expect((await list({ agent: 'first' })).map(({ correlation_id }) => correlation_id)).toEqual(newestFirst);
    expect((await list({ correlation_id: 'order-1' })).map(({ agent, state }) => [agent, state])).toEqual([
      ['second', 'completed'],
      ['first', 'completed'],
    ]);
    expect(await list({ correlation_id: 'order-1', agent: 'second', state: 'completed' })).toHaveLength(1);
    expect(await list({ correlation_id: 'order-1', state: 'failed' })).toEqual([]);
    expect(await list({ agent: 'nobody' })).toEqual([]);

    const all = await list({});
    expect(all.map(({ correlation_id }) => correlation_id)).toEqual(newestFirst.flatMap((order) => [order, order]));
    expect(await list({ state: 'completed' })).toEqual(all);
    expect((await list({ state: 'completed', agent: 'second' })).map(({ id }) => id)).toEqual(
      all.filter(({ agent }) => agent === 'second').map(({ id }) => id),
    );
    for (let offset = 0; offset < all.length; offset += 2) {
      expect(await page({ limit: 2, offset })).toEqual({
        items: all.slice(offset, offset + 2),
        pagination: { limit: 2, offset, has_more: offset < 4 },
      });
    }
    expect(
      (await page({ agent: 'first', limit: 1, offset: 1 })).items.map(({ correlation_id }) => correlation_id),
    ).toEqual(['order-1']);
  });

  it('are found in every state, also by agent alone', async () => {
    const rows = [1, 2].map((n) => board.publish('Gated', { n, batch: `gated-${n}` }));
    await Promise.all(rows);
    await eventually('one of them runs', () => gatesOf('gated-1').length + gatesOf('gated-2').length === 1);
    expect((await list({ agent: 'gate' })).map(({ state }) => state).sort()).toEqual(['pending', 'running']);
    for (const state of ['pending', 'running']) {
      const [found, ...others] = await list({ state });
      expect([found, others]).toMatchObject([{ agent: 'gate', state }, []]);
      expect(await list({ state, agent: 'gate' })).toEqual([found]);
      expect(await list({ state, agent: 'first' })).toEqual([]);
      const { attempts } = await get(found!.id);
      expect(attempts).toMatchObject(
        state === 'running' ? [{ attempt: 1, started_at: '2026-11-20T10:00:00.000Z', ended_at: null }] : [],
      );
    }
    const [running] = await list({ state: 'running' });
    const [pending] = await list({ state: 'pending' });
    // The other order would let the waiting one begin.
    for (const { correlation_id } of [pending!, running!])
      await board.http.post(`/api/v1/correlations/${correlation_id}/cancel`).expect(200);
    expect((await list({ state: 'cancelled' })).map(({ id }) => id).sort()).toEqual([running!.id, pending!.id].sort());
    expect((await list({ agent: 'gate' })).map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect((await get(running!.id)).attempts).toHaveLength(1);
    expect((await get(pending!.id)).attempts).toEqual([]);
    ['gated-1', 'gated-2'].flatMap(gatesOf).forEach((gate) => gate.open());
  });

  it('show their inputs in the order in which the agent sees them, and their outputs', async () => {
    await board.publish('Right', { n: 2 }, { correlation: 'pair' });
    await board.publish('Left', { n: 1 }, { correlation: 'pair' });
    await board.ended('pair');
    const stored = await board.artifacts('pair');
    const [{ id }] = (await list({ correlation_id: 'pair' })) as [Execution];
    const execution = await get(id);
    expect(execution.inputs.map(({ type }) => type)).toEqual(['Left', 'Right']);
    expect(execution.inputs.concat(execution.outputs).sort((a, b) => a.id.localeCompare(b.id))).toEqual(
      stored.sort((a, b) => a.id.localeCompare(b.id)),
    );
    expect(execution.outputs.map(({ type }) => type)).toEqual(['Joined', 'Extra', 'Extra']);
    expect(execution).toMatchObject({
      state: 'completed',
      direct: false,
      round: 0,
      lost_leases: 0,
      error_type: null,
      errors: [],
      next_attempt_at: null,
    });
    expect(execution.attempts).toEqual([
      {
        round: 0,
        attempt: 1,
        started_at: '2026-11-20T10:00:00.000Z',
        ended_at: '2026-11-20T10:00:00.000Z',
        error_type: null,
        error_message: null,
      },
    ]);
  });

  it('show every failed attempt with its time and error, and the final outcome', async () => {
    const correlation = await board.publish('Doomed', { n: 1 });
    const begun = clock.now();
    const failed = (count: number) => async () =>
      (await list({ correlation_id: correlation, state: 'pending' }))[0]?.attempt === count + 1;
    await eventually('the first attempt has failed', failed(1));
    const [{ id, next_attempt_at: next }] = (await list({ correlation_id: correlation })) as [Execution];
    expect(Math.abs(Date.parse(next!) - begun - 1_000)).toBeLessThanOrEqual(200);
    expect((await get(id)).attempts.map(({ attempt }) => attempt)).toEqual([1]);
    clock.advance(1_200);
    await eventually('the second attempt has failed', failed(2));
    clock.advance(1_200);
    await board.ended(correlation);

    const execution = await get(id);
    const at = (ms: number): string => new Date(begun + ms).toISOString();
    expect(execution.attempts).toEqual(
      [1, 2, 3].map((attempt) => ({
        round: 0,
        attempt,
        started_at: attempt === 1 ? at(0) : expect.any(String),
        ended_at: attempt === 1 ? at(0) : expect.any(String),
        error_type: 'RangeError',
        error_message: `no, ${attempt} times`,
      })),
    );
    const times = execution.attempts.flatMap(({ started_at, ended_at }) => [started_at, ended_at]);
    expect(times).toEqual([...times].sort());
    expect(new Set(times).size).toBeGreaterThanOrEqual(3);
    expect(execution).toMatchObject({
      state: 'failed',
      attempt: 3,
      error_type: 'RangeError',
      error_message: 'no, 3 times',
      outputs: [],
    });
    expect(execution.errors).toMatchObject([{ type: 'WorkflowError', payload: { execution_id: id, attempts: 3 } }]);
    expect((await list({ state: 'failed' })).map((failed) => failed.id)).toEqual([id]);
  });

  it.each([
    [{ state: 'done' }, 'state: must be one of pending, running, completed, failed, cancelled'],
    [{ limit: 0 }, 'limit: must be a whole number from 1 to 500'],
    [{ offset: -1 }, 'offset: must be a whole number from 0 to 1000000'],
  ])('are not listed for %j', async (query, detail) => {
    const { status, body } = await board.http.get('/api/v1/executions').query(query);
    expect([status, body]).toEqual([400, { detail }]);
  });

  it.each(['019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80', 'nothing'])('that are unknown are not found: %s', async (id) => {
    for (const call of [
      board.http.get(`/api/v1/executions/${id}`),
      board.http.post(`/api/v1/executions/${id}/retry`),
    ]) {
      const { status, body } = await call;
      expect([status, body]).toEqual([404, { detail: `Execution not found: ${id}` }]);
    }
  });
});
