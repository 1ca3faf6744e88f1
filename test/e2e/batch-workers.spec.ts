import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { type Batch, finish, GATE, type Gate, gatesOf, openAll, orders, send, show, started } from './batch-board.js';
import { Board, tally } from './board.js';

const CONFIG = `
agents:
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 6
    timeout: 1h
    retry: { attempts: 1 }
  up:
    consumes: [{ types: [Up] }]
    publishes: [{ type: Down }]
    engine: { kind: expression, expression: '{"n": payload.n, "batch": payload.batch}' }
  down:
    consumes: [{ types: [Down] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 1
    timeout: 1h
  other:
    consumes: [{ types: [Other] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 6
    timeout: 1h
`;

const FILES = { 'gate.js': GATE };

const open = (gate: Gate): void => gate.open();

/** Uses the whole app over HTTP on a database, and an agent whose invocations finish when the test says so. */
describe('a batch and its workers', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES });
  });

  afterAll(() => board.close());

  /** Returns the batch's runs that have started and not finished, whether their agent already runs or not. */
  const openRuns = async (id: string): Promise<number> => {
    const runs = ['starting', 'running'].map(async (status) => {
      const { body } = await board.http.get('/api/v1/runs').query({ status, limit: 500 }).expect(200);
      return (body as { items: { batch_id?: string }[] }).items.filter(({ batch_id }) => batch_id === id).length;
    });
    return (await Promise.all(runs)).reduce((one, other) => one + other);
  };

  it('goes from starting through running to completed, with its progress and the results so far', async () => {
    const answer = await board.http
      .post('/run/batch')
      .send({ agent_name: 'gate', batch_inputs: orders(4, { batch: 'steps' }), max_workers: 2 })
      .expect(200);
    const id = (answer.body as Batch).batch_id;
    expect(answer.body).toEqual({
      batch_id: id,
      status: 'starting',
      total_items: 4,
      completed_items: 0,
      failed_items: 0,
      progress_percentage: 0,
      results: [],
    });
    await started('steps', 2);
    expect(await show(board, id)).toEqual({
      ...(answer.body as Batch),
      status: 'running',
      started_at: expect.any(String),
    });

    // The second item finishes before the first.
    gatesOf('steps')[1]!.open();
    await started('steps', 3);
    gatesOf('steps')[2]!.fail();
    await started('steps', 4);
    const half = await show(board, id);
    expect(half).toMatchObject({ status: 'running', completed_items: 2, failed_items: 1, progress_percentage: 50 });
    expect(half).not.toHaveProperty('completed_at');
    expect(half.results.map(({ index, status }) => [index, status])).toEqual([
      [1, 'completed'],
      [2, 'failed'],
    ]);

    await finish(board, [id], ['steps']);
    const batch = await show(board, id);
    expect(batch).toMatchObject({
      status: 'completed',
      completed_items: 4,
      failed_items: 1,
      progress_percentage: 100,
      started_at: half.started_at,
    });
    expect(batch.results.map(({ index, status, result, error }) => [index, status, result?.n ?? error])).toEqual([
      [0, 'completed', 0],
      [1, 'completed', 1],
      [2, 'failed', 'gate failed: shut'],
      [3, 'completed', 3],
    ]);
    expect(batch.completed_at! >= batch.started_at!).toBe(true);
  });

  it.each([
    ['max_workers', 2, 2],
    ["all but one of its agent's slots", 100, 5],
  ])('has at most %s of its runs open at a time', async (_limit, maxWorkers, most) => {
    const name = `most ${maxWorkers}`;
    const id = await send(board, 'gate', orders(12, { batch: name }), { max_workers: maxWorkers });
    for (let count = 0; count + most <= 12; count += 1) {
      await started(name, count + most);
      expect(await openRuns(id)).toBe(most);
      open(gatesOf(name)[count]!);
    }
    await finish(board, [id], [name]);
    expect(
      gatesOf(name)
        .map(({ n }) => n)
        .sort((one, other) => one - other),
    ).toEqual(orders(12).map((_, n) => n));
  });

  it('shares the agent with another batch, and both progress', async () => {
    const [one, two] = [
      await send(board, 'gate', orders(12, { batch: 'one' }), { max_workers: 10 }),
      await send(board, 'gate', orders(12, { batch: 'two' }), { max_workers: 10 }),
    ];
    // The first had five before the second came, and gets no sixth until it has fewer than its half of them.
    await started('one', 5);
    await started('two', 1);
    for (const gate of gatesOf('one').slice(0, 4)) open(gate);
    await started('one', 6);
    await started('two', 2);
    expect(await openRuns(one)).toBe(2);
    expect(await openRuns(two)).toBe(2);
    await finish(board, [one, two], ['one', 'two']);
    for (const id of [one, two])
      expect(await show(board, id)).toMatchObject({ status: 'completed', completed_items: 12 });
  });

  it('leaves another agent its own share', async () => {
    const ids = [
      await send(board, 'gate', orders(6, { batch: 'here' }), { max_workers: 10 }),
      await send(board, 'other', orders(6, { batch: 'there' }), { max_workers: 10 }),
    ];
    await started('here', 5);
    await started('there', 5);
    await finish(board, ids, ['here', 'there']);
  });

  it('does not block artifacts that are published to the same agent meanwhile', async () => {
    const id = await send(board, 'gate', orders(50, { batch: 'long' }), { max_workers: 1_000 });
    await started('long', 5);
    // None of the batch's own runs finishes until then.
    for (const n of [1, 2, 3]) {
      const correlation = await board.publish('Gated', { n, batch: 'interactive' });
      await started('interactive', n);
      gatesOf('interactive').forEach(open);
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    }
    expect(gatesOf('long')).toHaveLength(5);
    expect(await show(board, id)).toMatchObject({ status: 'running', completed_items: 0 });
    await finish(board, [id], ['long']);
  });

  it('has a lower priority than work that a client waits for, including the agents that follow', async () => {
    const id = await send(board, 'up', orders(8, { batch: 'below' }), { max_workers: 8 });
    await started('below', 1);
    // Eight runs are open, and seven of them wait for the agent's one slot.
    await eventually('its whole share waits below', async () => (await openRuns(id)) === 8);
    const correlation = await board.publish('Down', { n: 1, batch: 'urgent' });
    open(gatesOf('below')[0]!);
    await started('urgent', 1);
    expect(gatesOf('below')).toHaveLength(1);
    open(gatesOf('urgent')[0]!);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    await finish(board, [id], ['below']);
  });

  describe('when it is cancelled', () => {
    it('aborts its runs and starts no other row, and does not affect other work', async () => {
      const id = await send(board, 'gate', orders(20, { batch: 'stopped' }), { max_workers: 3 });
      await started('stopped', 3);
      open(gatesOf('stopped')[0]!);
      await started('stopped', 4);
      const interactive = (
        await board.http
          .post('/run/flock')
          .send({ agent_name: 'gate', inputs: { n: 1, batch: 'beside' }, async_run: true })
          .expect(200)
      ).body as { run_id: string };
      await started('beside', 1);

      const cancelled = await board.http.post(`/batch/${id}/cancel`);
      expect([cancelled.status, cancelled.body]).toEqual([
        200,
        {
          batch_id: id,
          status: 'cancelled',
          total_items: 20,
          completed_items: 1,
          failed_items: 0,
          progress_percentage: 5,
          results: [],
          started_at: expect.any(String),
          completed_at: expect.any(String),
        },
      ]);
      await eventually('its engines are aborted', () =>
        gatesOf('stopped')
          .slice(1)
          .every(({ isAborted }) => isAborted),
      );
      const { items } = (await board.http.get('/api/v1/runs').query({ limit: 500 }).expect(200)).body as {
        items: { run_id: string; batch_id?: string; status: string }[];
      };
      const runs = items.filter(({ batch_id }) => batch_id === id);
      expect(tally(runs.map(({ status }) => status))).toEqual({ completed: 1, cancelled: 3 });
      expect((await show(board, id)).results.map(({ index, status }) => [index, status])).toEqual([[0, 'completed']]);

      const again = await board.http.post(`/batch/${id}/cancel`);
      expect([again.status, again.body]).toEqual([
        409,
        { detail: `Batch ${id} has already ended (cancelled) and cannot be cancelled` },
      ]);

      open(gatesOf('beside')[0]!);
      await eventually(
        'the interactive run has finished',
        async () =>
          ((await board.http.get(`/run/${interactive.run_id}`)).body as { status: string }).status === 'completed',
      );
      // Rows of the cancelled batch would have run before all of these.
      const next = await send(board, 'gate', orders(10, { batch: 'next' }), { max_workers: 3 });
      await finish(board, [next], ['next']);
      expect(gatesOf('stopped')).toHaveLength(4);
      expect((await board.http.get(`/batch/${id}`)).body).toMatchObject({ status: 'cancelled', completed_items: 1 });
    });

    it('finishes as completed if only one of its runs was cancelled', async () => {
      const id = await send(board, 'gate', orders(3, { batch: 'partly' }), { max_workers: 1 });
      await started('partly', 1);
      const { items } = (await board.http.get('/api/v1/runs?limit=1').expect(200)).body as {
        items: { run_id: string; batch_id: string }[];
      };
      expect(items[0]!.batch_id).toBe(id);
      await board.http.post(`/run/${items[0]!.run_id}/cancel`).expect(200);
      await started('partly', 2);
      await finish(board, [id], ['partly']);
      expect(await show(board, id)).toMatchObject({
        status: 'completed',
        completed_items: 2,
        failed_items: 0,
        results: [{ index: 1 }, { index: 2 }],
      });
    });
  });
});

describe("a batch in a process with fewer slots than its agent's concurrency", () => {
  it("takes half of the process's slots", async () => {
    const board = await Board.start(CONFIG, { files: FILES, settings: { maxConcurrentExecutions: 4 } });
    try {
      const id = await send(board, 'gate', orders(8, { batch: 'narrow' }), { max_workers: 8 });
      await started('narrow', 2);
      const correlation = await board.publish('Gated', { n: 1, batch: 'narrow, beside it' });
      await started('narrow, beside it', 1);
      expect(gatesOf('narrow')).toHaveLength(2);
      await openAll(['narrow', 'narrow, beside it'], async () => (await show(board, id)).completed_at !== undefined);
      await board.ended(correlation);
    } finally {
      await board.close();
    }
  });
});

describe('a batch whose app is stopped and started again', () => {
  const folder = new ConfigurationFolder();
  afterAll(() => folder.remove());

  it('continues at the same row', async () => {
    const start = (): Promise<Board> =>
      Board.start(CONFIG, { files: FILES, folder: folder.path, settings: { shutdownGraceMs: 1 } });
    let board = await start();
    const id = await send(board, 'gate', orders(10, { batch: 'restarted' }), { max_workers: 2 });
    await started('restarted', 2);
    gatesOf('restarted').forEach(open);
    await started('restarted', 4);
    const before = await show(board, id);
    expect(before).toMatchObject({ status: 'running', completed_items: 2 });
    await board.close();

    board = await start();
    try {
      await openAll(['restarted'], async () => (await show(board, id)).completed_at !== undefined);
      const batch = await show(board, id);
      expect(batch).toMatchObject({
        status: 'completed',
        total_items: 10,
        completed_items: 10,
        failed_items: 0,
        started_at: before.started_at,
      });
      expect(batch.results.map(({ index, result }) => [index, result!.n])).toEqual(orders(10).map((_, n) => [n, n]));
      expect(batch.results.slice(0, 2)).toEqual(before.results);
      // Finished rows do not run again; the two that were cut off do.
      expect(tally(gatesOf('restarted').map(({ n }) => String(n)))).toEqual(
        Object.fromEntries(batch.results.map(({ index }) => [String(index), [2, 3].includes(index) ? 2 : 1])),
      );
    } finally {
      await board.close();
    }
  });
});
