import { parse } from 'csv-parse/sync';

import { eventually } from '../support/eventually.js';
import { type Batch, ended, type Item, orders, send, show } from './batch-board.js';
import { Board, tally } from './board.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  echo:
    consumes: [{ types: [Order], where: 'false' }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: payload }
  recorder:
    consumes: [{ types: [Recorded] }]
    publishes: [{ type: Seen }]
    engine: { kind: function, module: ./recorder.js }
  -failing:
    consumes: [{ types: [Trouble] }]
    publishes: [{ type: Nothing }]
    engine: { kind: function, module: ./failing.js }
    retry: { attempts: 1 }
`;

const FILES = {
  // Lets other runs start beside it, and returns how many of its batch did. Those of a batch that names `together` wait
  // until so many have run at the same time.
  'recorder.js': `
    globalThis.batchRecords = [];
    const running = new Map();
    const most = new Map();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    export default async ([{ payload }]) => {
      running.set(payload.batch, (running.get(payload.batch) ?? 0) + 1);
      globalThis.batchRecords.push({ ...payload, beside: running.get(payload.batch) - 1 });
      most.set(payload.batch, Math.max(most.get(payload.batch) ?? 0, running.get(payload.batch)));
      for (let turns = 0; turns < 20 || most.get(payload.batch) < payload.together; turns += 1) await turn();
      running.set(payload.batch, running.get(payload.batch) - 1);
      return { n: payload.n };
    };`,
  'failing.js': `export default async ([{ payload }]) => { throw new Error(payload.reason); };`,
};

interface Recorded {
  n: number;
  batch: string;
  /** How many of its batch were running when it started. */
  beside: number;
}

const records = (batch: string): Recorded[] =>
  (globalThis as unknown as { batchRecords: Recorded[] }).batchRecords.filter((record) => record.batch === batch);

/** Uses the whole app over HTTP on a database. */
describe('a batch', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES });
  });

  afterAll(() => board.close());

  /** Returns all results as sent. */
  const text = async (id: string, accept = '*/*'): Promise<{ type: string; body: string }> => {
    const response = await fetch(`${board.app.url}/batch/${id}/results`, { headers: { accept } });
    expect(response.status).toBe(200);
    return { type: response.headers.get('content-type')!, body: await response.text() };
  };

  const results = (batch: Batch): unknown[] => batch.results.map(({ result }) => result);

  it('starts before its first run', async () => {
    const { started_at, results } = await ended(board, await send(board, 'echo', orders(200)));
    expect(results.filter((run) => run.started_at! < started_at!)).toEqual([]);
  });

  it('adds the static inputs to each item, unless it has its own', async () => {
    const id = await send(board, 'echo', [{ n: 1 }, { n: 2, k: 'own' }], { static_inputs: { k: 'static', n: 0 } });
    expect(results(await ended(board, id))).toEqual([
      { n: 1, k: 'static' },
      { n: 2, k: 'own' },
    ]);
  });

  it('renames what the mapping names, and drops the rest', async () => {
    const items = [
      { number: 1, other: 'dropped' },
      { number: 2, name: 'kept' },
    ];
    const id = await send(board, 'echo', items, {
      input_mapping: { number: 'n', name: 'label' },
      static_inputs: { label: 'static' },
    });
    expect(results(await ended(board, id))).toEqual([
      { n: 1, label: 'static' },
      { n: 2, label: 'kept' },
    ]);
  });

  it('without parallel runs one item at a time, in order', async () => {
    const id = await send(board, 'recorder', orders(30, { batch: 'serial' }), { parallel: false, max_workers: 8 });
    await ended(board, id);
    expect(records('serial').map(({ n, beside }) => [n, beside])).toEqual(orders(30).map((_, n) => [n, 0]));
  });

  it('runs as many items in parallel as it has workers', async () => {
    const id = await send(board, 'recorder', orders(60, { batch: 'parallel', together: 3 }), { max_workers: 3 });
    await ended(board, id);
    expect(Math.max(...records('parallel').map(({ beside }) => beside))).toBe(2);
  });

  it('runs rows with an equal key once, and repeats the result', async () => {
    const keys = ['a', 'b', 'a', 'c', 'a', 'b'];
    const id = await send(
      board,
      'recorder',
      keys.map((key, n) => ({ n, key, batch: 'keyed' })),
      { row_key: 'key' },
    );
    const batch = await ended(board, id);
    expect(batch).toMatchObject({
      status: 'completed',
      total_items: 6,
      completed_items: 6,
      failed_items: 0,
      progress_percentage: 100,
    });
    expect(batch.results.map(({ index, result }) => [index, result!.n])).toEqual([
      [0, 0],
      [1, 1],
      [2, 0],
      [3, 3],
      [4, 0],
      [5, 1],
    ]);
    expect(new Set(batch.results.map(({ run_id }) => run_id)).size).toBe(3);
    expect(
      records('keyed')
        .map(({ n }) => n)
        .sort(),
    ).toEqual([0, 1, 3]);
  });

  it('counts each of the rows with an equal key as failed if their run failed', async () => {
    const items = ['a', 'b', 'a'].map((key) => ({ key, reason: `no ${key}` }));
    const batch = await ended(board, await send(board, '-failing', items, { row_key: 'key' }));
    expect(batch).toMatchObject({ status: 'failed', completed_items: 3, failed_items: 3 });
    expect(batch.results.map(({ error }) => error)).toEqual(['a', 'b', 'a'].map((key) => `-failing failed: no ${key}`));
  });

  it('continues if the schema refuses an item, which fails with its own run', async () => {
    const batch = await ended(board, await send(board, 'echo', [{ n: 1 }, { n: 'two' }, {}, { n: 4 }]));
    expect(batch).toMatchObject({
      status: 'completed',
      total_items: 4,
      completed_items: 4,
      failed_items: 2,
      progress_percentage: 100,
    });
    expect(batch.results.map(({ index, status }) => [index, status])).toEqual([
      [0, 'completed'],
      [1, 'failed'],
      [2, 'failed'],
      [3, 'completed'],
    ]);
    for (const item of batch.results) {
      const { body: run } = await board.http.get(`/run/${item.run_id}`).expect(200);
      expect({ index: item.index, ...(run as object) }).toEqual(item);
    }
    expect(batch.results[1]!.error).toMatch(/^inputs\.n: /);
  });

  it('has failed if every item failed, for any reason', async () => {
    const refused = await ended(board, await send(board, 'echo', [{}, {}]));
    const broken = await ended(board, await send(board, '-failing', [{ reason: 'broken' }]));
    for (const batch of [refused, broken]) {
      expect(batch).toMatchObject({
        status: 'failed',
        error: 'every item failed',
        progress_percentage: 100,
        completed_at: expect.any(String),
      });
      expect(batch.failed_items).toBe(batch.total_items);
      expect(batch.results).toHaveLength(batch.total_items);
    }
  });

  it('is made once by twenty parallel requests with one idempotency key', async () => {
    const body = { agent_name: 'recorder', batch_inputs: orders(40, { batch: 'once' }) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => board.http.post('/run/batch').set('X-Idempotency-Key', 'once').send(body)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await ended(board, (answers[0]!.body as Batch).batch_id);
    expect(
      records('once')
        .map(({ n }) => n)
        .sort((one, other) => one - other),
    ).toEqual(orders(40).map((_, n) => n));
    const again = await board.http
      .post('/run/batch')
      .set('X-Idempotency-Key', 'once')
      .send({ ...body, max_workers: 7 });
    expect(again.text).toBe(answers[0]!.text);
    expect(again.headers).toMatchObject({ 'x-idempotency-replayed': 'true', 'x-idempotency-mismatch': 'true' });
  });

  it.each([
    ['an unknown agent', { agent_name: 'nobody', batch_inputs: [{}] }, 404, 'Agent not found: nobody'],
    ['an empty list', { agent_name: 'echo', batch_inputs: [] }, 400, 'batch_inputs: must not be empty'],
  ])('is refused for %s, and none is made', async (_case, body, status, detail) => {
    const count = async (): Promise<number> =>
      ((await board.http.get('/api/v1/batches?limit=500')).body as { items: object[] }).items.length;
    const before = await count();
    const response = await board.http.post('/run/batch').send(body);
    expect([response.status, response.body]).toEqual([status, { detail }]);
    expect(await count()).toBe(before);
  });

  describe('of 1,250 items, a tenth of which fail', () => {
    let id: string;
    const fails = (n: number): boolean => n % 10 === 3;
    const numbers = Array.from({ length: 1_250 }, (_, n) => n);

    beforeAll(async () => {
      id = await send(
        board,
        'echo',
        numbers.map((n) => ({ n: fails(n) ? 'wrong' : n })),
        { max_workers: 1_000 },
      );
      await ended(board, id);
    });

    const indexes = async (query: object): Promise<number[]> =>
      (await show(board, id, query)).results.map(({ index }) => index);

    it.each([
      ['the first thousand by default', {}, numbers.slice(0, 1_000)],
      ['none', { results_limit: 0 }, []],
      ['no results for a limit of 0 in the middle', { results_limit: 0, results_offset: 700 }, []],
      ['all', { results_limit: 10_000 }, numbers],
      ['some results from the middle', { results_limit: 20, results_offset: 495 }, numbers.slice(495, 515)],
      ['the last one', { results_offset: 1_249 }, [1_249]],
      ['none behind the last one', { results_offset: 1_250 }, []],
      ['none far behind', { results_offset: 9_007_199_254_740_991 }, []],
      ['the failed ones', { results_status: 'failed' }, numbers.filter(fails)],
      [
        'some of the failed ones',
        { results_status: 'failed', results_limit: 60, results_offset: 45 },
        numbers.filter(fails).slice(45, 105),
      ],
      ['none behind the last failed one', { results_status: 'failed', results_offset: 125 }, []],
      [
        'some of the completed ones',
        { results_status: 'completed', results_limit: 7, results_offset: 1_100 },
        numbers.filter((n) => !fails(n)).slice(1_100, 1_107),
      ],
    ])('returns %s', async (_case, query, expected) => {
      expect(await indexes(query)).toEqual(expected);
    });

    it('streams all of them as NDJSON', async () => {
      const { type, body } = await text(id);
      expect(type).toBe('application/x-ndjson');
      const lines = body.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line) as Item)).toEqual(
        (await show(board, id, { results_limit: 10_000 })).results,
      );
    });
  });

  describe('as text', () => {
    let id: string;

    beforeAll(async () => {
      id = await send(board, '-failing', [{ reason: 'two\nlines, a "quote"' }, { reason: 'plain' }]);
      await ended(board, id);
    });

    it('is a CSV that a parser reads correctly, with no cell that a spreadsheet would read as a formula', async () => {
      const { type, body } = await text(id, 'text/csv');
      expect(type).toMatch(/^text\/csv/);
      const [head, ...rows] = parse(body) as string[][];
      expect(head).toEqual(['index', 'run_id', 'status', 'result', 'error', 'started_at', 'completed_at']);
      const { results: items } = await show(board, id);
      expect(rows.map((row) => row.slice(0, 5))).toEqual([
        ['0', items[0]!.run_id, 'failed', '', `'-failing failed: two\nlines, a "quote"`],
        ['1', items[1]!.run_id, 'failed', '', `'-failing failed: plain`],
      ]);
      expect(body).toContain('a ""quote""');
    });

    it('has a result as JSON in its cell', async () => {
      const payload = { n: 1, text: 'a, "b"\nc' };
      const batch = await ended(board, await send(board, 'echo', [payload]));
      const { body } = await text(batch.batch_id, 'text/csv');
      const [, row] = parse(body) as string[][];
      expect(JSON.parse(row![3]!)).toEqual(payload);
    });

    it('has the inputs of each item if the client asks for them, and the same columns in every row', async () => {
      // The last one repeats the first one.
      const inputs = [{ n: 1, text: 'a, "b"' }, { n: 'none' }, { n: 1, text: 'again' }];
      const more = { static_inputs: { shop: 'Berlin' }, row_key: 'n' };
      const batch = await ended(board, await send(board, 'echo', inputs, more));
      const items = (await show(board, batch.batch_id, { results_inputs: true })).results;
      expect(items).toEqual(batch.results.map((item, index) => ({ ...item, inputs: inputs[[0, 1, 0][index]!] })));
      const results = async (query: string): Promise<string> =>
        (await fetch(`${board.app.url}/batch/${batch.batch_id}/results?${query}`)).text();
      const lines = (await results('results_inputs=true')).trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line) as Item)).toEqual(items);
      // The parser refuses rows of different lengths.
      const rows = parse(await results('results_inputs=true&format=csv'), { columns: true }) as Record<
        string,
        string
      >[];
      expect(rows.map((row) => [row.index, row.status, JSON.parse(row.inputs!)])).toEqual([
        ['0', 'completed', inputs[0]],
        ['1', 'failed', inputs[1]],
        ['2', 'completed', inputs[0]],
      ]);
      expect((await board.http.get(`/batch/${batch.batch_id}/results?results_inputs=all`)).body).toEqual({
        detail: 'results_inputs: must be true or false',
      });
    });

    it.each([
      ['*/*', 'application/x-ndjson'],
      ['application/json', 'application/x-ndjson'],
      ['application/x-ndjson, text/csv;q=0.5', 'application/x-ndjson'],
      ['text/csv;q=0.9, application/x-ndjson;q=0.1', 'text/csv'],
      ['text/*', 'text/csv'],
    ])('is sent for %s', async (accept, type) => {
      expect((await text(id, accept)).type.split(';')[0]).toBe(type);
    });

    it('is a 404 if there is no such batch', async () => {
      const response = await board.http.get('/batch/none/results').set('Accept', 'text/csv');
      expect([response.status, response.body]).toEqual([404, { detail: 'Batch not found: none' }]);
    });
  });

  it('is listed, newest first, by status, agent and time', async () => {
    interface Listed {
      items: { batch_id: string; agent_name: string; status: string; created_at: string }[];
      pagination: object;
    }
    const list = async (query: object): Promise<Listed> =>
      (await board.http.get('/api/v1/batches').query(query).expect(200)).body as Listed;
    const ids = async (query: object): Promise<string[]> => (await list(query)).items.map(({ batch_id }) => batch_id);
    // Times are whole milliseconds, and the batches of earlier tests have none of these.
    const from = new Date(Date.now() + 1).toISOString();
    await eventually('a new millisecond has begun', () => new Date().toISOString() > from);
    const one = await send(board, 'echo', [{ n: 1 }]);
    const two = await send(board, '-failing', [{ reason: 'no' }]);
    const three = await send(board, 'echo', [{ n: 3 }]);
    for (const id of [one, two, three]) await ended(board, id);

    expect(await ids({ from })).toEqual([three, two, one]);
    expect(await ids({ from, agent: 'echo' })).toEqual([three, one]);
    expect(await ids({ from, status: 'failed' })).toEqual([two]);
    expect(await ids({ from, status: 'completed', agent: '-failing' })).toEqual([]);
    expect(await ids({ from, status: 'starting' })).toEqual([]);
    expect(await ids({ to: '2020-01-01' })).toEqual([]);
    const { created_at: last } = (await list({ from })).items[0]!;
    expect(await ids({ from, to: last })).toEqual([three, two, one]);
    expect(await list({ from, limit: 2 })).toMatchObject({
      items: [{ batch_id: three }, { batch_id: two }],
      pagination: { limit: 2, offset: 0, has_more: true },
    });
    expect(await list({ from, limit: 2, offset: 2 })).toMatchObject({
      items: [{ batch_id: one }],
      pagination: { limit: 2, offset: 2, has_more: false },
    });
    const listed = (await list({ from })).items[2]!;
    expect({ ...listed, results: expect.any(Array) }).toEqual({
      ...(await show(board, one)),
      agent_name: 'echo',
      created_at: expect.any(String),
    });
    expect(tally((await list({ from })).items.map(({ status }) => status))).toEqual({ completed: 2, failed: 1 });
  });
});
