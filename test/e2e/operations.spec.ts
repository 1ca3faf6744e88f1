import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { changeStored } from '../faults/change-stored.js';
import { CleanedBoard } from '../retention/cleaned-board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { endedOperation, operate, type Operation, operationAt } from './operations.js';

// Fails until the test mends it, with the error of its input.
const FAILING = `export default async ([{ payload }], { executionId }) => {
  (globalThis.operatedInvocations ??= []).push(executionId);
  if (!globalThis.operationsAreMended) throw Object.assign(new Error(payload.message), { name: payload.error });
  return {};
};`;

const agent = (type: string): string =>
  `{ consumes: [{ types: [${type}] }], publishes: [{ type: Done }], engine: { kind: function, module: ./failing.js }, retry: { attempts: 1 } }`;

const CONFIG = `agents:
  packer: ${agent('Parcel')}
  courier: ${agent('Trip')}
  retrier: { consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], engine: { kind: function, module: ./failing.js }, retry: { attempts: 2, delay: 1h } }
`;

const shared = globalThis as { operationsAreMended?: boolean; operatedInvocations?: string[] };

interface Execution {
  id: string;
  agent: string;
  state: string;
  round: number;
  ended_at: string;
  error_type: string | null;
  error_message: string | null;
}

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('operations over many executions', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeEach(async () => {
    shared.operatedInvocations = [];
    shared.operationsAreMended = false;
    board = await Board.start(CONFIG, { clock, files: { 'failing.js': FAILING } });
  });

  afterEach(() => board.close());

  const post = (kind: 'retry' | 'fail', body: object) => board.http.post(`/api/v1/executions/${kind}`).send(body);
  const list = async (query: object): Promise<Execution[]> => {
    const { body } = await board.http
      .get('/api/v1/executions')
      .query({ limit: 500, ...query })
      .expect(200);
    return (body as { items: Execution[] }).items;
  };
  const pause = (name: string) => board.http.post(`/api/v1/agents/${name}/pause`).expect(200);
  const resume = (name: string) => board.http.post(`/api/v1/agents/${name}/resume`).expect(200);

  /** Publishes inputs whose executions fail, and returns their correlations. */
  const failing = async (count: number, type = 'Parcel', error = 'Error', message = 'no parcel'): Promise<string[]> => {
    const correlations = await Promise.all(
      Array.from({ length: count }, (_, n) => board.publish(type, { error, message: `${message} ${n}` })),
    );
    for (const correlation of correlations) await board.ended(correlation);
    return correlations;
  };

  /** Waits until the service counts so many waiting executions. The count may be a moment old. */
  const counted = (count: number): Promise<void> =>
    eventually(`${count} executions are counted`, async () => {
      const { text } = await board.http.get('/metrics').expect(200);
      return text.includes(`\nstarling_queue_depth ${count}\n`);
    });

  /** Waits until a retry of a paused agent has no room for more, and returns it. */
  const waitsForRoom = async (id: string): Promise<Operation> => {
    await eventually('it has retried some', async () => (await operationAt(board.http, id)).done >= 20);
    let operation = await operationAt(board.http, id);
    await eventually('all that it retried is counted', async () => {
      const { text } = await board.http.get('/metrics').expect(200);
      operation = await operationAt(board.http, id);
      return text.includes(`\nstarling_queue_depth ${operation.done}\n`);
    });
    return operation;
  };

  const groupOf = async (agent: string): Promise<{ group: string; count: number }> => {
    const { body } = await board.http.get('/api/v1/executions/failures').query({ agent }).expect(200);
    return (body as { items: { group: string; count: number }[] }).items[0]!;
  };

  it('retry each failed execution of a group once', async () => {
    const correlations = await failing(53);
    await failing(2, 'Trip');
    const { group, count } = await groupOf('packer');
    expect(count).toBe(53);
    expect((await post('retry', { group, dry_run: true }).expect(200)).body).toEqual({ matched: 53 });
    expect(await list({ state: 'failed', agent: 'packer' })).toHaveLength(53);
    expect((await board.http.get('/api/v1/operations').expect(200)).body).toMatchObject({ items: [] });
    shared.operationsAreMended = true;
    const answer = (await post('retry', { group }).expect(200)).body as Operation;
    expect(answer).toMatchObject({ kind: 'retry', filter: { group }, matched: 53, failed: 0, last_error: null });
    expect(await endedOperation(board.http, answer.operation_id)).toEqual({
      ...answer,
      state: 'completed',
      done: 53,
      ended_at: expect.any(String) as string,
    });
    for (const correlation of correlations)
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 1 });
    const retried = await list({ agent: 'packer' });
    expect(new Set(retried.map(({ state, round }) => `${state} ${round}`))).toEqual(new Set(['completed 1']));
    expect(shared.operatedInvocations).toHaveLength(53 + 53 + 2);
    expect(await list({ state: 'failed' })).toHaveLength(2);
    expect((await post('retry', { group }).expect(200)).body).toMatchObject({
      state: 'completed',
      matched: 0,
      done: 0,
    });
  });

  it('retry by agent, error type, correlation and time of the failure', async () => {
    const [first] = await failing(1);
    const times = [(await list({}))[0]!.ended_at];
    clock.advance(1_000);
    await failing(2, 'Parcel', 'TypeError');
    times.push((await list({}))[0]!.ended_at);
    clock.advance(1_000);
    await failing(3, 'Trip');
    const { body: groups } = await board.http.get('/api/v1/executions/failures').query({ to: times[0] }).expect(200);
    const [{ group }] = (groups as { items: [{ group: string }] }).items;
    const matched = async (body: object) => {
      const { matched } = (await post('retry', { ...body, dry_run: true }).expect(200)).body as { matched: number };
      return matched;
    };
    for (const rolledUp of [false, true]) {
      if (rolledUp) await board.app.app.get(Rollups, { strict: false }).run();
      expect(await matched({ agent: 'packer' })).toBe(3);
      expect(await matched({ error_type: 'Error' })).toBe(4);
      expect(await matched({ agent: 'packer', error_type: 'Error' })).toBe(1);
      expect(await matched({ agent: 'nobody' })).toBe(0);
      expect(await matched({ group })).toBe(1);
      expect(await matched({ group, agent: 'courier' })).toBe(0);
      expect(await matched({ group, from: times[1] })).toBe(0);
    }
    expect(await matched({ correlation_id: first })).toBe(1);
    expect(await matched({ correlation_id: first, error_type: 'TypeError' })).toBe(0);
    expect(await matched({ from: times[1] })).toBe(5);
    expect(await matched({ to: times[1] })).toBe(3);
    expect(await matched({ from: times[1], to: times[1], agent: 'courier' })).toBe(0);
    shared.operationsAreMended = true;
    expect(await operate(board.http, 'retry', { from: times[1], error_type: 'TypeError' })).toMatchObject({ done: 2 });
    expect(await operate(board.http, 'retry', { correlation_id: first })).toMatchObject({ done: 1 });
    expect(await operate(board.http, 'retry', { agent: 'courier', to: times[1] })).toMatchObject({ matched: 0 });
    expect(await operate(board.http, 'retry', { agent: 'courier' })).toMatchObject({ done: 3 });
  });

  it('retry nothing twice that fails again, and nothing that failed after the start', async () => {
    await failing(30);
    clock.advance(1_000);
    expect(await operate(board.http, 'retry', { agent: 'packer' })).toMatchObject({ matched: 30, done: 30, failed: 0 });
    await eventually('all have failed again', async () => (await list({ state: 'failed' })).length === 30);
    expect(shared.operatedInvocations).toHaveLength(60);
    expect((await groupOf('packer')).count).toBe(30);
  });

  it('count what cannot be retried, and say why', async () => {
    const { body } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'packer', inputs: { error: 'Error', message: 'no' } })
      .expect(200);
    const { run_id } = body as { run_id: string };
    const [{ id }] = (await list({ correlation_id: run_id })) as [Execution];
    const before = await board.status(run_id);
    await failing(2);
    clock.advance(5_000);
    const last_error = `Execution ${id} cannot be retried: its correlation ${run_id} is closed; start a new one`;
    expect(await operate(board.http, 'retry', { agent: 'packer' })).toMatchObject({ done: 2, failed: 1, last_error });
    expect(await board.status(run_id)).toEqual(before);
  });

  it('retry only while there is room for waiting executions', async () => {
    await board.close();
    board = await Board.start(CONFIG, {
      clock,
      files: { 'failing.js': FAILING },
      settings: { maxPendingExecutions: 25 },
    });
    // A count of the backlog that is a wave behind leaves room for the next wave.
    for (let wave = 0; wave < 12; wave += 1) await failing(10);
    await pause('packer');
    const { operation_id } = (await post('retry', { agent: 'packer' }).expect(200)).body as Operation;
    await eventually(
      'it has retried more than fit',
      async () => (await operationAt(board.http, operation_id)).done >= 40,
    );
    const waiting = await waitsForRoom(operation_id);
    expect(waiting).toMatchObject({ state: 'running', matched: 120 });
    // A count that was a moment old may have let it retry some more.
    expect(waiting.done).toBeLessThan(120);
    shared.operationsAreMended = true;
    await resume('packer');
    expect(await endedOperation(board.http, operation_id)).toMatchObject({ state: 'completed', done: 120 });
    await eventually('all have run', async () => (await list({ state: 'completed' })).length === 120);
  });

  it('can be cancelled, and are listed', async () => {
    await board.close();
    board = await Board.start(CONFIG, {
      clock,
      files: { 'failing.js': FAILING },
      settings: { maxPendingExecutions: 10 },
    });
    // A count of the backlog that is a wave behind leaves room for the next wave.
    for (let wave = 0; wave < 20; wave += 1) await failing(4);
    await pause('packer');
    const { operation_id } = (await post('retry', { agent: 'packer' }).expect(200)).body as Operation;
    await waitsForRoom(operation_id);
    const { body } = await board.http.post(`/api/v1/operations/${operation_id}/cancel`).expect(200);
    expect(body).toMatchObject({ state: 'cancelled', matched: 80, ended_at: expect.any(String) as string });
    const { done } = body as Operation;
    expect(await board.http.post(`/api/v1/operations/${operation_id}/cancel`)).toMatchObject({
      status: 409,
      body: { detail: `Operation ${operation_id} has already ended (cancelled) and cannot be cancelled` },
    });
    shared.operationsAreMended = true;
    await resume('packer');
    await eventually('what was retried has run', async () => (await list({ state: 'completed' })).length === done);
    expect(await list({ state: 'failed' })).toHaveLength(80 - done);
    const second = await operate(board.http, 'retry', { agent: 'packer' });
    expect(second).toMatchObject({ matched: 80 - done, done: 80 - done });
    const page = async (query: object) =>
      (await board.http.get('/api/v1/operations').query(query).expect(200)).body as object;
    const ids = [second.operation_id, operation_id];
    expect(await page({})).toMatchObject({
      items: ids.map((id) => ({ operation_id: id })),
      pagination: { limit: 50, offset: 0, has_more: false },
    });
    expect(await page({ limit: 1 })).toMatchObject({
      items: [{ operation_id: ids[0] }],
      pagination: { limit: 1, offset: 0, has_more: true },
    });
  });

  it('run at most ten at a time', async () => {
    await board.close();
    board = await Board.start(CONFIG, {
      clock,
      files: { 'failing.js': FAILING },
      settings: { maxPendingExecutions: 2 },
    });
    await failing(1);
    await failing(1);
    await failing(1);
    await pause('courier');
    await counted(0);
    await board.publish('Trip', { error: 'Error', message: 'no trip' });
    await board.publish('Trip', { error: 'Error', message: 'no trip' });
    await counted(2);
    const started = await Promise.all(Array.from({ length: 12 }, () => post('retry', { agent: 'packer' })));
    expect(started.map(({ status }) => status).sort()).toEqual([...Array<number>(10).fill(200), 409, 409]);
    expect(started.find(({ status }) => status === 409)!.body).toEqual({
      detail: '10 operations are running, which is the most; wait until one has ended, or cancel one',
    });
    shared.operationsAreMended = true;
    await resume('courier');
    const ended = [];
    for (const { status, body } of started)
      if (status === 200) ended.push(await endedOperation(board.http, (body as Operation).operation_id));
    // Each execution is retried by one of them.
    expect(ended.reduce((sum, { done }) => sum + done, 0)).toBe(3);
  });

  it('fail what waits, for a claim or for its next attempt, and nothing that runs or comes later', async () => {
    await pause('packer');
    const old = await Promise.all([1, 2].map((n) => board.publish('Parcel', { n })));
    const doomed = await board.publish('Doomed', { error: 'Error', message: 'no' });
    await eventually('its first attempt has failed', () =>
      board.app.logLines.some(({ outcome }) => outcome === 'retried'),
    );
    const to = clock.now();
    clock.advance(1_000);
    const young = await board.publish('Parcel', { n: 3 });
    const body = { to: new Date(to).toISOString() };
    expect((await post('fail', { ...body, dry_run: true }).expect(200)).body).toEqual({ matched: 3 });
    expect(await operate(board.http, 'fail', body)).toMatchObject({ kind: 'fail', matched: 3, done: 3, failed: 0 });
    for (const correlation of [...old, doomed]) {
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
      const [execution] = await list({ correlation_id: correlation });
      expect(execution).toMatchObject({
        state: 'failed',
        error_type: 'given_up',
        error_message: 'a request ended this execution while it waited',
      });
    }
    expect(await list({ state: 'pending' })).toHaveLength(1);
    expect(await operate(board.http, 'fail', { correlation_id: young, agent: 'courier' })).toMatchObject({
      matched: 0,
    });
    expect(await operate(board.http, 'fail', { correlation_id: young, agent: 'packer' })).toMatchObject({ done: 1 });
    shared.operationsAreMended = true;
    await resume('packer');
    expect(await operate(board.http, 'retry', { error_type: 'given_up' })).toMatchObject({ matched: 4, done: 4 });
    for (const correlation of [...old, doomed, young])
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    await counted(0);
  });

  it('are started once for an idempotency key', async () => {
    await failing(3);
    shared.operationsAreMended = true;
    const ask = () => post('retry', { agent: 'packer' }).set('X-Idempotency-Key', 'all-packers').expect(200);
    const answers = [await ask(), await ask()];
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect(answers[1]!.headers['x-idempotency-replayed']).toBe('true');
    const { operation_id } = answers[0]!.body as Operation;
    expect(await endedOperation(board.http, operation_id)).toMatchObject({ matched: 3, done: 3 });
    expect((await board.http.get('/api/v1/operations').expect(200)).body.items).toHaveLength(1);
  });

  it('refuse bad requests, and store nothing', async () => {
    await failing(1);
    const rows: [string, object, string][] = [
      ['retry', {}, 'The body needs a filter: group, agent, error_type, correlation_id, from or to'],
      ['retry', { dry_run: true }, 'The body needs a filter: group, agent, error_type, correlation_id, from or to'],
      ['retry', { agent: '' }, 'agent: must be 1 to 255 characters of text, without NUL'],
      [
        'retry',
        { agent: 'packer', from: 'soon' },
        'from: is not a time; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
      ],
      [
        'retry',
        { agent: 'packer', to: 7 },
        'to: is not a time; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
      ],
      ['retry', { agent: 'packer', dry_run: 'yes' }, 'dry_run: must be a boolean value'],
      ['fail', {}, 'The body needs a filter: agent, correlation_id, from or to'],
      ['fail', { error_type: 'Error' }, 'error_type: is not a known field'],
    ];
    for (const [kind, body, problem] of rows) {
      const answer = await post(kind as 'retry', body);
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
        400,
        expect.stringContaining(problem),
      ]);
    }
    const unknown = '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80';
    for (const answer of [
      await board.http.get(`/api/v1/operations/${unknown}`),
      await board.http.post(`/api/v1/operations/${unknown}/cancel`),
    ])
      expect([answer.status, answer.body]).toEqual([404, { detail: `Operation not found: ${unknown}` }]);
    expect((await board.http.get('/api/v1/operations').expect(200)).body).toMatchObject({ items: [] });
  });

  it('are deleted seven days after their end', async () => {
    await failing(1);
    const cleaned = new CleanedBoard(board, clock);
    const { operation_id } = await operate(board.http, 'retry', { agent: 'packer' });
    await cleaned.cleanUpAfter(6);
    expect((await operationAt(board.http, operation_id)).state).toBe('completed');
    await cleaned.cleanUpAfter(2);
    await board.http.get(`/api/v1/operations/${operation_id}`).expect(404);
  });

  it('continue if the clock is set back while a process that has crashed had their lock', async () => {
    await failing(2);
    const later = clock.now() + 2 * 3_600_000;
    await changeStored(
      board.app.database.url,
      `update scheduler_locks set due_at = ${later} where name = 'operations'`,
    );
    shared.operationsAreMended = true;
    expect(await operate(board.http, 'retry', { agent: 'packer' })).toMatchObject({ state: 'completed', done: 2 });
  });
});
