import type { Test } from 'supertest';

import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { check, detail, timestamp, UNKNOWN_ID, uuid } from './rows.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  picker:
    description: Picks an order
    consumes: [{ types: [Order], where: 'false', from_agents: [nobody], tags: [never] }]
    publishes: [{ type: Picked }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  both:
    consumes: [{ types: [Order, Letter], where: 'false' }]
    publishes: [{ type: Both }]
    engine: { kind: expression, expression: '{"types": inputs.map(input, input.type)}' }
  either:
    consumes: [{ types: [Order, Letter], mode: any, where: 'false' }, { types: [Order], where: 'false' }]
    publishes: [{ type: Either }]
    engine: { kind: expression, expression: '{"type": artifact.type}' }
  broken:
    consumes: [{ types: [Trouble] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: payload.missing.deeper }
    retry: { attempts: 1 }
  slow:
    consumes: [{ types: [Endless] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./slow.js }
`;

const SLOW = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

/**
 * Tests Interface A as docs/api.md describes it, row by row. Uses the application, its database, HTTP, and expression
 * and function agents.
 */
describe('Interface A', () => {
  let app: TestApp;
  let ended: { run: string; batch: string };
  let open: { run: string; batch: string };

  beforeAll(async () => {
    app = await startApp({ config: CONFIG, files: { 'slow.js': SLOW }, settings: { csvRoot: import.meta.dirname } });
    const id = async (call: Test, name: string): Promise<string> =>
      ((await call.expect(200)).body as Record<string, string>)[name]!;
    ended = {
      run: await id(run({ agent_name: 'picker', inputs: { n: 1 } }), 'run_id'),
      batch: await id(batch({ agent_name: 'picker', batch_inputs: [{ n: 1 }, { m: 2 }, { n: 3 }] }), 'batch_id'),
    };
    await eventually(
      'the batch has finished',
      async () => ((await get(`/batch/${ended.batch}`)).body as { status: string }).status === 'completed',
    );
    open = {
      run: await id(run({ agent_name: 'slow', async_run: true }), 'run_id'),
      batch: await id(batch({ agent_name: 'slow', batch_inputs: [{}, {}] }), 'batch_id'),
    };
  });

  afterAll(() => app.close());

  const get = (path: string): Test => app.http.get(path);
  const run = (body: object): Test => app.http.post('/run/flock').send(body);
  const batch = (body: object): Test => app.http.post('/run/batch').send(body);
  const pick = (body: object = {}): Test => run({ agent_name: 'picker', ...body });
  const pickAll = (body: object = {}): Test => batch({ agent_name: 'picker', batch_inputs: [{ n: 1 }], ...body });

  const completed = (result: unknown): object => ({
    run_id: uuid,
    status: 'completed',
    result,
    started_at: timestamp,
    completed_at: timestamp,
  });

  describe('POST /run/flock', () => {
    check([
      [
        'answers with the output when the workflow has ended',
        () => pick({ inputs: { n: 1 } }),
        200,
        completed({ n: 1 }),
      ],
      [
        'answers 200 with `failed` where the workflow failed',
        () => run({ agent_name: 'broken' }),
        200,
        {
          run_id: uuid,
          status: 'failed',
          error: expect.stringMatching(/^broken failed: /) as string,
          started_at: timestamp,
          completed_at: timestamp,
        },
      ],
      [
        'takes {} for absent inputs',
        () => run({ agent_name: 'either', inputs: { Letter: {} } }),
        200,
        completed({ type: 'Letter' }),
      ],
      [
        'takes an object keyed by type name where the agent joins several types',
        () => run({ agent_name: 'both', inputs: { Letter: {}, Order: { n: 1 } } }),
        200,
        completed({ types: ['Order', 'Letter'] }),
      ],
      [
        'uses the first subscription that fits',
        () => run({ agent_name: 'either', inputs: { Order: { n: 1 } } }),
        200,
        completed({ type: 'Order' }),
      ],
      [
        'answers immediately with async_run',
        () => run({ agent_name: 'slow', async_run: true }),
        200,
        { run_id: uuid, status: expect.stringMatching(/^(starting|running)$/) as string },
      ],
      ['ignores unknown body fields', () => pick({ inputs: { n: 1 }, colour: 'red' }), 200, completed({ n: 1 })],
      [
        'refuses an unknown agent',
        () => run({ agent_name: 'piker' }),
        404,
        detail('Agent not found: piker; did you mean picker?'),
      ],
      ['refuses a payload that its schema refuses', () => pick({ inputs: {} }), 400, detail('inputs.n: is required')],
      [
        'refuses a keyed payload that its schema refuses',
        () => run({ agent_name: 'both', inputs: { Order: {}, Letter: {} } }),
        400,
        detail('inputs.Order.n: is required'),
      ],
      [
        'refuses a keyed payload that is no object',
        () => run({ agent_name: 'both', inputs: { Order: { n: 1 }, Letter: 5 } }),
        400,
        detail('inputs.Letter: must be an object, the payload of Letter'),
      ],
      [
        'refuses a join with a type missing',
        () => run({ agent_name: 'both', inputs: { Order: { n: 1 } } }),
        400,
        detail('inputs: both takes an object with Order and Letter as its keys (got Order)'),
      ],
      [
        'refuses several of any',
        () => run({ agent_name: 'both', inputs: { Order: { n: 1 }, Letter: {}, More: {} } }),
        400,
        detail(/^inputs: both takes/),
      ],
      ['refuses inputs that are not an object', () => pick({ inputs: [1] }), 400, detail('inputs: must be an object')],
      ['refuses null for inputs', () => pick({ inputs: null }), 400, detail('inputs: must be an object')],
      [
        'names every bad field',
        () => run({ agent_name: 7, async_run: 'yes' }),
        400,
        detail('agent_name: must be a string; async_run: must be a boolean value'),
      ],
      ['refuses a body without an agent', () => run({}), 400, detail('agent_name: is required')],
      [
        'refuses a correlation id with a space',
        () => pick({ inputs: { n: 1 } }).set('X-Correlation-ID', 'a b'),
        400,
        detail(/^X-Correlation-ID: /),
      ],
    ]);
  });

  describe('GET /run/{run_id}', () => {
    check([
      ['shows a finished run', () => get(`/run/${ended.run}`), 200, completed({ n: 1 })],
      ['omits fields without a value yet', () => get(`/run/${open.run}`), 200, { run_id: uuid, status: 'running' }],
      ['answers 404 for an unknown run', () => get(`/run/${UNKNOWN_ID}`), 404, detail(`Run not found: ${UNKNOWN_ID}`)],
    ]);
  });

  describe('POST /run/{run_id}/cancel', () => {
    check([
      [
        'refuses a finished run',
        () => app.http.post(`/run/${ended.run}/cancel`),
        409,
        detail(/has already ended \(completed\)/),
      ],
      [
        'answers 404 for an unknown run',
        () => app.http.post('/run/nothing/cancel'),
        404,
        detail('Run not found: nothing'),
      ],
    ]);
  });

  describe('POST /run/batch', () => {
    const starting = (total: number): object => ({
      batch_id: uuid,
      status: 'starting',
      total_items: total,
      completed_items: 0,
      failed_items: 0,
      progress_percentage: 0,
      results: [],
    });
    check([
      ['answers with a new batch that is starting', () => pickAll(), 200, starting(1)],
      [
        'takes every option',
        () =>
          pickAll({
            static_inputs: { k: 1 },
            input_mapping: { n: 'n' },
            parallel: false,
            max_workers: 1_000,
            row_key: 'n',
          }),
        200,
        starting(1),
      ],
      [
        'refuses an unknown agent',
        () => batch({ agent_name: 'piker', batch_inputs: [{}] }),
        404,
        detail('Agent not found: piker; did you mean picker?'),
      ],
      ['refuses an empty list', () => pickAll({ batch_inputs: [] }), 400, detail('batch_inputs: must not be empty')],
      [
        'refuses a batch without inputs',
        () => batch({ agent_name: 'picker' }),
        400,
        detail('batch_inputs: must be a list of objects, or the path of a CSV file'),
      ],
      [
        'refuses inputs that are neither list nor path',
        () => pickAll({ batch_inputs: { n: 1 } }),
        400,
        detail('batch_inputs: must be a list of objects, or the path of a CSV file'),
      ],
      [
        'refuses an item that is not an object',
        () => pickAll({ batch_inputs: [{ n: 1 }, 2] }),
        400,
        detail(/^batch_inputs.*1/),
      ],
      ['refuses a file that is not there', () => pickAll({ batch_inputs: 'nowhere.csv' }), 400, detail(/nowhere\.csv/)],
      [
        'refuses a path that leaves csv_root',
        () => pickAll({ batch_inputs: '../../etc/passwd' }),
        400,
        detail(/csv_root/),
      ],
      [
        'refuses a path to anything but a CSV',
        () => pickAll({ batch_inputs: 'interface-a.spec.ts' }),
        400,
        detail(/ does not end in \.csv, \.tsv or \.txt; /),
      ],
      [
        'refuses more than 1000 workers',
        () => pickAll({ max_workers: 1_001 }),
        400,
        detail('max_workers: must not be greater than 1000'),
      ],
      ['refuses no workers', () => pickAll({ max_workers: 0 }), 400, detail('max_workers: must not be less than 1')],
      [
        'refuses a delimiter of two characters',
        () => pickAll({ delimiter: ',,' }),
        400,
        detail('delimiter: must be exactly one character'),
      ],
      [
        'refuses a mapping to anything but names',
        () => pickAll({ input_mapping: { n: 1 } }),
        400,
        detail('input_mapping: must be an object whose values are strings'),
      ],
      [
        'refuses static inputs that are not an object',
        () => pickAll({ static_inputs: [] }),
        400,
        detail('static_inputs: must be an object'),
      ],
      [
        'refuses words for a boolean',
        () => pickAll({ parallel: 'no' }),
        400,
        detail('parallel: must be a boolean value'),
      ],
    ]);

    it('belongs to no correlation', async () => {
      const response = await pickAll().set('X-Correlation-ID', 'mine');
      expect(response.headers).not.toHaveProperty('x-correlation-id');
    });
  });

  describe('GET /batch/{batch_id}', () => {
    const item = (index: number, n: number): object => ({
      index,
      run_id: uuid,
      status: 'completed',
      result: { n },
      started_at: timestamp,
      completed_at: timestamp,
    });
    const failed = {
      index: 1,
      run_id: uuid,
      status: 'failed',
      error: expect.stringMatching(/^inputs\.n: is required$/) as string,
      started_at: timestamp,
      completed_at: timestamp,
    };
    const whole = (results: object[]): object => ({
      batch_id: uuid,
      status: 'completed',
      total_items: 3,
      completed_items: 3,
      failed_items: 1,
      progress_percentage: 100,
      results,
      started_at: timestamp,
      completed_at: timestamp,
    });
    check([
      [
        'shows progress and the results in the order of the input',
        () => get(`/batch/${ended.batch}`),
        200,
        whole([item(0, 1), failed, item(2, 3)]),
      ],
      ['omits results unless they are requested', () => get(`/batch/${ended.batch}?results_limit=0`), 200, whole([])],
      [
        'shows a part of the results',
        () => get(`/batch/${ended.batch}?results_limit=1&results_offset=2`),
        200,
        whole([item(2, 3)]),
      ],
      ['shows nothing behind the last result', () => get(`/batch/${ended.batch}?results_offset=3`), 200, whole([])],
      [
        'shows the results with a status',
        () => get(`/batch/${ended.batch}?results_status=failed`),
        200,
        whole([failed]),
      ],
      [
        'counts the offset among those with the status',
        () => get(`/batch/${ended.batch}?results_status=completed&results_offset=1`),
        200,
        whole([item(2, 3)]),
      ],
      [
        'refuses a limit beyond 10000',
        () => get(`/batch/${ended.batch}?results_limit=10001`),
        400,
        detail(/^results_limit/),
      ],
      [
        'refuses an unknown status',
        () => get(`/batch/${ended.batch}?results_status=running`),
        400,
        detail('results_status: must be one of completed, failed'),
      ],
      [
        'answers 404 for an unknown batch',
        () => get(`/batch/${UNKNOWN_ID}`),
        404,
        detail(`Batch not found: ${UNKNOWN_ID}`),
      ],
    ]);

    it('answers the run of an item that failed on its own', async () => {
      const { results } = (await get(`/batch/${ended.batch}`)).body as { results: { run_id: string }[] };
      const id = results[1]!.run_id;
      expect((await get(`/run/${id}`).expect(200)).body).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/^inputs\.n: is required$/),
      });
      // Its id exists and is closed, like that of any finished run.
      expect(
        (await app.http.post('/api/v1/artifacts').set('X-Correlation-ID', id).send({ type: 'Letter' })).status,
      ).toBe(409);
      expect((await pick({ inputs: { n: 1 } }).set('X-Correlation-ID', id)).status).toBe(409);
      expect((await app.http.post(`/api/v1/correlations/${id}/cancel`)).status).toBe(409);
      expect((await get(`/api/v1/correlations/${id}/status`)).body).toMatchObject({
        state: 'failed',
        has_pending_work: false,
        artifact_count: 0,
      });
    });
  });

  describe('the other batch routes', () => {
    const post = (path: string): Test => app.http.post(path);
    check([
      [
        'cannot be cancelled when it has finished',
        () => post(`/batch/${ended.batch}/cancel`),
        409,
        detail(/has already ended \(completed\)/),
      ],
      [
        'cannot be cancelled if it is unknown',
        () => post('/batch/nothing/cancel'),
        404,
        detail('Batch not found: nothing'),
      ],
      [
        'cannot be retried while it runs',
        () => post(`/batch/${open.batch}/retry-failed`),
        409,
        detail(/is still running/),
      ],
      [
        'cannot be retried if it is unknown',
        () => post('/batch/nothing/retry-failed'),
        404,
        detail('Batch not found: nothing'),
      ],
      ['has no results if it is unknown', () => get('/batch/nothing/results'), 404, detail('Batch not found: nothing')],
      [
        'refuses an unknown form of the results',
        () => get(`/batch/${ended.batch}/results?format=xml`),
        400,
        detail('format: must be one of ndjson, csv'),
      ],
      [
        'groups the failed items',
        () => get(`/batch/${ended.batch}/failures`),
        200,
        {
          groups: [
            {
              message: expect.stringMatching(/^inputs\.n: is required$/) as string,
              items: 1,
              first_index: 1,
              first_run_id: uuid,
            },
          ],
          other_items: 0,
        },
      ],
      [
        'has no failures if it is unknown',
        () => get('/batch/nothing/failures'),
        404,
        detail('Batch not found: nothing'),
      ],
    ]);
  });

  describe('GET /agents', () => {
    check([
      [
        'lists names and descriptions',
        () => get('/agents'),
        200,
        {
          agents: ['picker', 'both', 'either', 'broken', 'slow'].map((name) => ({
            name,
            description: name === 'picker' ? 'Picks an order' : '',
          })),
        },
      ],
    ]);
  });

  describe('the lists', () => {
    check([
      [
        'refuse an unknown status of runs',
        () => get('/api/v1/runs?status=done'),
        400,
        detail('status: must be one of starting, running, completed, failed, cancelled'),
      ],
      [
        'refuse an unknown status of batches',
        () => get('/api/v1/batches?status=done'),
        400,
        detail('status: must be one of starting, running, completed, failed, cancelled'),
      ],
      [
        'refuse an unreadable time',
        () => get('/api/v1/runs?from=yesterday'),
        400,
        detail('Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'),
      ],
      ['refuse a limit beyond 500', () => get('/api/v1/batches?limit=501'), 400, detail(/^limit/)],
      [
        'are empty if nothing matches',
        () => get('/api/v1/runs?agent=nobody'),
        200,
        { items: [], pagination: { limit: 50, offset: 0, has_more: false } },
      ],
    ]);
  });
});
