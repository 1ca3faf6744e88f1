import { ended, finish, GATE, gatesOf, orders, send, show, started } from './batch-board.js';
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
`;

/** Uses the whole app over HTTP on a database, and an agent whose invocations finish when the test says so. */
describe('a batch whose failed items are retried', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'gate.js': GATE } });
  });

  afterAll(() => board.close());

  const TOTAL = 40;
  const isTenth = (n: number): boolean => n % 10 === 7;
  const retry = (id: string) => board.http.post(`/batch/${id}/retry-failed`);

  it('runs only those again, with correct counts throughout', async () => {
    const id = await send(board, 'gate', orders(TOTAL, { batch: 'retried' }), { max_workers: 3 });
    const early = await retry(id);
    expect([early.status, early.body]).toEqual([
      409,
      { detail: `Batch ${id} is still running; retry its failed items when it has ended` },
    ]);
    for (let count = 0; count < TOTAL; count += 1) {
      await started('retried', count + 1);
      const gate = gatesOf('retried')[count]!;
      if (isTenth(gate.n)) gate.fail();
      else gate.open();
    }
    const before = await ended(board, id);
    expect(before).toMatchObject({
      status: 'completed',
      completed_items: TOTAL,
      failed_items: 4,
      progress_percentage: 100,
    });

    const answer = await retry(id);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        batch_id: id,
        status: 'running',
        total_items: TOTAL,
        completed_items: TOTAL - 4,
        failed_items: 0,
        progress_percentage: 90,
        results: [],
        started_at: before.started_at,
      },
    ]);
    await started('retried', TOTAL + 3);
    const during = await show(board, id);
    expect(during).toMatchObject({
      status: 'running',
      completed_items: TOTAL - 4,
      failed_items: 0,
      progress_percentage: 90,
    });
    expect(during.results).toEqual(before.results.filter(({ index }) => !isTenth(index)));
    expect((await show(board, id, { results_offset: 7, results_limit: 1 })).results).toMatchObject([{ index: 8 }]);
    expect((await show(board, id, { results_status: 'failed' })).results).toEqual([]);

    const again = gatesOf('retried').slice(TOTAL);
    again[0]!.open();
    again[1]!.fail();
    again[2]!.open();
    await started('retried', TOTAL + 4);
    gatesOf('retried')[TOTAL + 3]!.open();
    const after = await ended(board, id);
    expect(after).toMatchObject({
      status: 'completed',
      completed_items: TOTAL,
      failed_items: 1,
      progress_percentage: 100,
    });
    expect(after.results.map(({ index }) => index)).toEqual(before.results.map(({ index }) => index));
    for (const [index, item] of after.results.entries()) {
      if (isTenth(index)) expect(item.run_id).not.toBe(before.results[index]!.run_id);
      else expect(item).toEqual(before.results[index]);
    }
    expect(after.results.filter(({ status }) => status === 'failed').map(({ index }) => index)).toEqual([again[1]!.n]);
    expect((await board.http.get(`/run/${before.results[7]!.run_id}`)).body).toMatchObject({ status: 'failed' });

    const starts = tally(gatesOf('retried').map(({ n }) => String(n)));
    expect(starts).toEqual(
      Object.fromEntries(after.results.map(({ index }) => [String(index), isTenth(index) ? 2 : 1])),
    );

    expect((await retry(id)).body).toMatchObject({ status: 'running', completed_items: TOTAL - 1 });
    await started('retried', TOTAL + 5);
    gatesOf('retried')[TOTAL + 4]!.open();
    expect(await ended(board, id)).toMatchObject({ status: 'completed', completed_items: TOTAL, failed_items: 0 });
    const none = await retry(id);
    expect([none.status, none.body]).toEqual([409, { detail: `Batch ${id} has no failed items` }]);
    expect(gatesOf('retried')).toHaveLength(TOTAL + 5);
  });

  it('runs one of several rows with an equal key again, for all of them', async () => {
    const keys = ['a', 'b', 'a', 'b', 'a'];
    const id = await send(
      board,
      'gate',
      keys.map((key, n) => ({ n, key, batch: 'keys' })),
      { row_key: 'key' },
    );
    await started('keys', 2);
    for (const gate of gatesOf('keys')) (gate.n === 0 ? gate.fail : gate.open)();
    expect(await ended(board, id)).toMatchObject({ completed_items: 5, failed_items: 3 });
    expect((await retry(id)).body).toMatchObject({ completed_items: 2, failed_items: 0 });
    await started('keys', 3);
    gatesOf('keys')[2]!.open();
    const batch = await ended(board, id);
    expect(batch).toMatchObject({ status: 'completed', completed_items: 5, failed_items: 0 });
    expect(batch.results.map(({ result }) => result!.n)).toEqual([0, 1, 0, 1, 0]);
    expect(gatesOf('keys')).toHaveLength(3);
  });

  it('keeps items failed that have not run again when it is cancelled', async () => {
    const id = await send(board, 'gate', orders(4, { batch: 'given up' }), { max_workers: 1 });
    for (let n = 0; n < 4; n += 1) {
      await started('given up', n + 1);
      if (n < 3) gatesOf('given up')[n]!.fail();
      else gatesOf('given up')[n]!.open();
    }
    expect(await ended(board, id)).toMatchObject({ completed_items: 4, failed_items: 3 });
    await retry(id).expect(200);
    await started('given up', 5);
    gatesOf('given up')[4]!.open();
    await started('given up', 6);

    const { body } = await board.http.post(`/batch/${id}/cancel`).expect(200);
    expect(body).toMatchObject({ status: 'cancelled', completed_items: 3, failed_items: 1, progress_percentage: 75 });
    expect((await show(board, id)).results.map(({ index, status }) => [index, status])).toEqual([
      [0, 'completed'],
      [2, 'failed'],
      [3, 'completed'],
    ]);
    expect((await show(board, id, { results_status: 'failed' })).results).toMatchObject([{ index: 2 }]);

    await retry(id).expect(200);
    await started('given up', 7);
    expect(gatesOf('given up')[6]!.n).toBe(2);
    await finish(board, [id], ['given up']);
    expect(await show(board, id)).toMatchObject({ completed_items: 3, failed_items: 0 });
    expect(gatesOf('given up')).toHaveLength(7);
  });

  it('finishes a cancelled batch as cancelled again, because some of its rows have not run', async () => {
    const id = await send(board, 'gate', orders(5, { batch: 'cut' }), { max_workers: 1 });
    await started('cut', 1);
    gatesOf('cut')[0]!.fail();
    await started('cut', 2);
    await board.http.post(`/batch/${id}/cancel`).expect(200);
    expect((await retry(id)).status).toBe(200);
    await started('cut', 3);
    gatesOf('cut')[2]!.open();
    expect(await ended(board, id)).toMatchObject({
      status: 'cancelled',
      completed_items: 1,
      failed_items: 0,
      results: [{ index: 0, status: 'completed' }],
    });
    expect(gatesOf('cut').map(({ n }) => n)).toEqual([0, 1, 0]);
  });

  it('removes a batch from `failed`', async () => {
    const id = await send(board, 'gate', orders(2, { batch: 'hopeless' }));
    await started('hopeless', 2);
    gatesOf('hopeless').forEach((gate) => gate.fail());
    expect((await ended(board, id)).status).toBe('failed');
    const { body } = await retry(id);
    expect(body).toMatchObject({ status: 'running', completed_items: 0, progress_percentage: 0 });
    expect(body).not.toHaveProperty('error');
    expect(body).not.toHaveProperty('completed_at');
    await finish(board, [id], ['hopeless']);
    expect(await show(board, id)).toMatchObject({ status: 'completed', failed_items: 0 });
  });
});
