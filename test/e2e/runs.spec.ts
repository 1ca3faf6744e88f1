import { eventually } from '../support/eventually.js';
import { Board } from './board.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  picker:
    description: Picks an order
    consumes: [{ types: [Order], where: 'false', from_agents: [nobody], tags: [never] }]
    publishes: [{ type: Picked }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  packer:
    consumes: [{ types: [Picked], where: 'payload.n < 100.0' }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: '{"packed": payload.n}' }
  printer:
    consumes: [{ types: [Picked], where: 'payload.n > 10.0' }]
    publishes: [{ type: Label }]
    engine: { kind: expression, expression: '[{"copy": 1.0}, {"copy": 2.0}]' }
  bystander:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Seen }]
    engine: { kind: expression, expression: '{}' }
  failing:
    consumes: [{ types: [Order] , where: 'false' }]
    publishes: [{ type: Nothing }]
    engine: { kind: function, module: ./failing.js }
    retry: { attempts: 1 }
  unlucky:
    consumes: [{ types: [Order], where: 'false' }]
    engine: { kind: function, module: ./unlucky.js }
    retry: { attempts: 2, delay: 200ms }
  silent:
    consumes: [{ types: [Order], where: 'false' }]
    engine: { kind: expression, expression: 'null' }
  both:
    consumes: [{ types: [Order, Letter], where: 'false' }]
    publishes: [{ type: Both }]
    engine: { kind: expression, expression: '{"types": inputs.map(input, input.type)}' }
  either:
    consumes: [{ types: [Order, Letter], mode: any, where: 'false' }]
    publishes: [{ type: Either }]
    engine: { kind: expression, expression: '{"type": artifact.type}' }
  slow:
    consumes: [{ types: [Order], where: 'false' }]
    publishes: [{ type: Slept }]
    engine: { kind: function, module: ./slow.js }
    concurrency: 1
`;

const FILES = {
  'failing.js': `export default async () => { throw new Error('out of paper'); };`,
  'unlucky.js': `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return null; };`,
  // Returns when its signal is aborted, and counts its starts and aborts for the test.
  'slow.js': `
    globalThis.slowStarts = []; globalThis.slowAborts = [];
    export default (inputs, { signal, executionId }) => {
      globalThis.slowStarts.push(inputs[0].payload.n);
      return new Promise((_, reject) => signal.addEventListener('abort', () => { globalThis.slowAborts.push(inputs[0].payload.n); reject(signal.reason); }));
    };`,
};

const slow = globalThis as unknown as { slowStarts: number[]; slowAborts: number[] };

interface Run {
  run_id: string;
  status: string;
  result?: unknown;
  error?: string;
  started_at?: string;
  completed_at?: string;
}

/** Uses the whole app over HTTP on a database. */
describe('a run', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES });
  });

  afterAll(() => board.app.close());

  const run = async (agent: string, inputs: object, more: object = {}): Promise<Run> =>
    (
      await board.http
        .post('/run/flock')
        .send({ agent_name: agent, inputs, ...more })
        .expect(200)
    ).body as Run;
  const get = async (id: string): Promise<Run> => (await board.http.get(`/run/${id}`).expect(200)).body as Run;

  it('answers with the output of the whole workflow that its agent starts', async () => {
    const answer = await run('picker', { n: 1 });
    expect(answer).toEqual({
      run_id: expect.any(String),
      status: 'completed',
      result: { packed: 1 },
      started_at: expect.any(String),
      completed_at: expect.any(String),
    });
    expect(await get(answer.run_id)).toEqual(answer);
  });

  it('returns several final artifacts by their type, in a list if there are more than one', async () => {
    expect((await run('picker', { n: 50 })).result).toEqual({
      Packed: { packed: 50 },
      Label: [{ copy: 1 }, { copy: 2 }],
    });
    expect((await run('picker', { n: 500 })).result).toEqual({ Label: [{ copy: 1 }, { copy: 2 }] });
  });

  it('returns an empty object if it has no output', async () => {
    expect(await run('silent', { n: 1 })).toMatchObject({ status: 'completed', result: {} });
  });

  it('stores its input as published from outside, and no other agent reacts to that', async () => {
    const { run_id: id } = await run('picker', { n: 2 });
    const { body } = await board.http.get(`/api/v1/artifacts?correlation_id=${id}`).expect(200);
    const { items } = body as { items: { type: string; produced_by: string }[] };
    expect(items.map(({ type, produced_by }) => [type, produced_by])).toEqual([
      ['Order', 'external'],
      ['Picked', 'picker'],
      ['Packed', 'packer'],
    ]);
  });

  it.each([
    ['every type of a join', 'both', { Order: { n: 1 }, Letter: {} }, { types: ['Order', 'Letter'] }],
    ['one of several types', 'either', { Letter: {} }, { type: 'Letter' }],
  ])('accepts inputs keyed by type name: %s', async (_case, agent, inputs, result) => {
    expect((await run(agent, inputs)).result).toEqual(result);
  });

  it('fails if an execution of it failed for good, and names the agent and the reason', async () => {
    const answer = await run('failing', { n: 1 });
    expect(answer).toEqual({
      run_id: expect.any(String),
      status: 'failed',
      error: 'failing failed: out of paper',
      started_at: expect.any(String),
      completed_at: expect.any(String),
    });
  });

  it('has started when its first attempt did', async () => {
    const answer = await run('unlucky', { n: 1 });
    expect(answer.status).toBe('completed');
    // The delay between the attempts is 200 ms, give or take 20 %.
    expect(Date.parse(answer.completed_at!) - Date.parse(answer.started_at!)).toBeGreaterThanOrEqual(160);
  });

  it('uses the correlation id of its caller, if that is free', async () => {
    const ask = () =>
      board.http
        .post('/run/flock')
        .set('X-Correlation-ID', 'mine')
        .send({ agent_name: 'picker', inputs: { n: 3 } });
    const first = await ask();
    expect([first.status, (first.body as Run).run_id, first.headers['x-correlation-id']]).toEqual([
      200,
      'mine',
      'mine',
    ]);
    const second = await ask();
    expect([second.status, second.body]).toEqual([
      409,
      { detail: 'Correlation mine exists already; send another X-Correlation-ID, or none' },
    ]);
    expect((await board.status('mine')).artifact_count).toBe(3);
  });

  it('that has finished accepts no more artifacts', async () => {
    const { run_id: id } = await run('picker', { n: 4 });
    const before = await board.status(id);
    const response = await board.http.post('/api/v1/artifacts').set('X-Correlation-ID', id).send({ type: 'Letter' });
    expect([response.status, response.body]).toEqual([
      409,
      { detail: `Correlation ${id} has ended and takes no more artifacts; publish into another one` },
    ]);
    expect(await board.status(id)).toEqual(before);
  });

  it('in the background goes from starting or running to its end', async () => {
    const answer = await run('picker', { n: 5 }, { async_run: true });
    expect(['starting', 'running']).toContain(answer.status);
    expect(answer).not.toHaveProperty('result');
    await eventually('the run has finished', async () => (await get(answer.run_id)).status === 'completed');
    expect((await get(answer.run_id)).result).toEqual({ packed: 5 });
  });

  describe('that is cancelled', () => {
    const start = async (n: number): Promise<string> => (await run('slow', { n }, { async_run: true })).run_id;
    const isRunning = (n: number): Promise<void> =>
      eventually(`the engine runs ${n}`, async () => slow.slowStarts.includes(n));

    it("aborts its engine, discards the engine's result, and closes its correlation", async () => {
      const id = await start(1);
      await isRunning(1);
      const { status, body } = await board.http.post(`/run/${id}/cancel`);
      expect([status, body]).toEqual([
        200,
        { run_id: id, status: 'cancelled', started_at: expect.any(String), completed_at: expect.any(String) },
      ]);
      await eventually('its engine is aborted', async () => slow.slowAborts.includes(1));

      expect(await board.status(id)).toMatchObject({
        state: 'cancelled',
        has_pending_work: false,
        artifact_count: 1,
        error_count: 0,
      });
      expect(
        (await board.http.post('/api/v1/artifacts').set('X-Correlation-ID', id).send({ type: 'Letter' })).status,
      ).toBe(409);
      const again = await board.http.post(`/run/${id}/cancel`);
      expect([again.status, again.body]).toEqual([
        409,
        { detail: `Run ${id} has already ended (cancelled) and cannot be cancelled` },
      ]);
    });

    it('never starts pending work, and does not affect other runs', async () => {
      const first = await start(2);
      await isRunning(2);
      const [waiting, other] = [await start(3), await start(4)];
      expect((await get(waiting)).status).toBe('starting');
      await board.http.post(`/run/${waiting}/cancel`).expect(200);
      await board.http.post(`/run/${first}/cancel`).expect(200);
      await isRunning(4);
      expect(slow.slowStarts).not.toContain(3);
      expect((await get(other)).status).toBe('running');
      await board.http.post(`/run/${other}/cancel`).expect(200);
    });

    it('can be cancelled through its correlation', async () => {
      const id = await start(5);
      const { status, body } = await board.http.post(`/api/v1/correlations/${id}/cancel`);
      expect([status, body]).toEqual([200, expect.objectContaining({ correlation_id: id, state: 'cancelled' })]);
      expect((await get(id)).status).toBe('cancelled');
      expect((await board.http.post('/api/v1/correlations/nothing/cancel')).body).toEqual({
        detail: 'Correlation not found: nothing',
      });
    });
  });

  it('is listed, newest first, by status, agent and time', async () => {
    const list = async (query: string): Promise<{ run_id: string; agent_name: string; status: string }[]> =>
      (
        (await board.http.get(`/api/v1/runs?${query}`).expect(200)).body as {
          items: { run_id: string; agent_name: string; status: string }[];
        }
      ).items;
    const before = new Date().toISOString();
    const one = await run('either', { Letter: {} });
    const two = await run('failing', { n: 1 });
    expect((await list(`from=${before}`)).map(({ run_id }) => run_id)).toEqual([two.run_id, one.run_id]);
    expect((await list(`from=${before}&status=failed`)).map(({ run_id }) => run_id)).toEqual([two.run_id]);
    expect((await list(`from=${before}&agent=either`)).map(({ run_id }) => run_id)).toEqual([one.run_id]);
    expect(await list(`to=2020-01-01`)).toEqual([]);
    const page = await board.http.get(`/api/v1/runs?from=${before}&limit=1`).expect(200);
    expect(page.body).toMatchObject({
      items: [{ run_id: two.run_id }],
      pagination: { limit: 1, offset: 0, has_more: true },
    });
  });
});
