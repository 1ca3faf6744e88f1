import { eventually } from '../support/eventually.js';
import { gatesOf, orders, send, show, started } from './batch-board.js';
import { ALL, MissingAgentsBoard } from './missing-agents-board.js';
import { operate } from './operations.js';
import { Outside } from './outside.js';
import { SERVER } from './replica-boards.js';

const MINUTE = 60_000;

interface Execution {
  id: string;
  agent: string;
  state: string;
  without_agent?: boolean;
}

// The keys of a join are computed after the transaction that completes it.
const KEYED = `limits: { pool: { concurrency: 1 } }
agents:
  limited: { consumes: [{ types: [Left, Right] }], publishes: [{ type: Pair }], limits: [{ name: pool, key: payload.Left.n }], engine: { kind: expression, expression: '{"ok": true}' } }
  cancellable: { consumes: [{ types: [Left, Right] }], publishes: [{ type: Pair }], cancel_on: { types: [Gone], key: artifact.payload.n }, engine: { kind: expression, expression: '{"ok": true}' } }
`;

const HOLDER = `limits: { pool: { concurrency: 1 } }
agents:
  holder: { consumes: [{ types: [Task] }], limits: [pool], engine: { kind: external } }
`;
const BLOCKED = `${HOLDER}  blocked: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], limits: [pool], engine: { kind: expression, expression: '{"ok": true}' } }
`;

/** Uses the whole app over HTTP, stopped and started again with other agents on one database. The clock is faked. */
describe('an execution whose agent no process has', () => {
  let lacking: MissingAgentsBoard;

  beforeEach(() => {
    lacking = new MissingAgentsBoard();
  });

  afterEach(() => lacking.remove());

  const metric = async (name: string): Promise<string[]> =>
    (await lacking.board.http.get('/metrics').expect(200)).text.split('\n').filter((line) => line.startsWith(name));
  const executions = async (query: string): Promise<Execution[]> =>
    ((await lacking.board.http.get(`/api/v1/executions?${query}`).expect(200)).body as { items: Execution[] }).items;

  it('gets its keys and runs when a process has the agent again', async () => {
    const before = await lacking.startWith(KEYED, { role: SERVER });
    const left = await before.publish('Left', { n: 1 });
    await before.publish('Right', {}, { correlation: left });
    const board = await lacking.restart(['stayer']);
    await eventually('the timers of both wait for a process', async () => {
      const timers = `select id from timers where kind = 'limits' and was_due_at is not null`;
      return (await board.app.database.rows(timers)).length === 2;
    });
    await eventually('both are shown', async () => (await executions('without_agent=true')).length === 2);
    expect(await lacking.status(left)).toMatchObject({ waiting_for_agents: ['cancellable', 'limited'] });
    await board.close();
    const after = await lacking.startWith(KEYED);
    expect(await after.ended(left)).toMatchObject({ state: 'completed', error_count: 0, artifact_count: 4 });
    expect(await after.app.database.rows('select id from timers')).toEqual([]);
  });

  it('is shown while it waits for a limit that another agent holds', async () => {
    const before = await lacking.startWith(BLOCKED);
    const task = await before.publish('Task', {});
    const held = await new Outside(before.http).claimOne({ agents: ['holder'] });
    const order = await before.publish('Order', {});
    await eventually('it waits for the limit', async () => {
      const { body } = await before.http.get(`/api/v1/correlations/${order}/waiting`).expect(200);
      return (body as { counts: { limit: number } }).counts.limit === 1;
    });
    await before.close();
    const without = await lacking.startWith(HOLDER);
    await eventually('it is shown', async () => (await executions('without_agent=true')).length === 1);
    expect(await lacking.status(order)).toMatchObject({ state: 'active', waiting_for_agents: ['blocked'] });
    await without.close();
    const after = await lacking.startWith(BLOCKED);
    expect((await new Outside(after.http).send(held, 'complete', { outputs: [] })).status).toBe(200);
    for (const id of [task, order]) expect(await after.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
  });

  it('waits, and every route about it says so', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const order = await before.publish('Order', { n: 1 });
    const another = await before.publish('Order', { n: 2 });
    const board = await lacking.restart(['stayer']);

    expect(await lacking.status(order)).toMatchObject({
      state: 'active',
      has_pending_work: true,
      error_count: 0,
      waiting_for_agents: ['price'],
    });
    const [waiting, other] = await executions('without_agent=true');
    expect([waiting, other]).toMatchObject([
      { agent: 'price', state: 'pending', without_agent: true },
      { without_agent: true },
    ]);
    expect(await executions('without_agent=true&state=failed')).toEqual([]);
    expect(await executions('without_agent=true&agent=gate')).toEqual([]);
    expect(await executions(`without_agent=true&correlation_id=${another}`)).toHaveLength(1);
    expect((await board.http.get(`/api/v1/executions/${waiting!.id}`).expect(200)).body).toMatchObject({
      state: 'pending',
      without_agent: true,
    });
    const trace = (await board.http.get(`/api/v1/correlations/${order}/trace`).expect(200)).body as {
      executions: Execution[];
    };
    expect(trace.executions).toMatchObject([{ agent: 'price', state: 'pending', without_agent: true }]);
    const [artifact] = await board.artifacts(order);
    const { verdicts } = (await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200)).body as {
      verdicts: { agent: string; detail: string }[];
    };
    expect(verdicts.find(({ agent }) => agent === 'price')!.detail).toBe(
      'It triggered the agent; the execution waits, since no process has the agent price.',
    );
    expect(await metric('starling_executions_without_agent')).toEqual([
      'starling_executions_without_agent{agent="price"} 2',
    ]);
    expect(await metric('starling_queue_depth')).toEqual(['starling_queue_depth 0']);
    const warnings = board.app.logLines.filter(({ level }) => level === 40);
    expect(warnings).toEqual([expect.objectContaining({ agents: { price: { executions: 2, groups: 0 } } })]);
  });

  it('runs when a process has the agent again', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const order = await before.publish('Order', { n: 1 });
    const message = await before.publish('Message', { n: 2 });
    await lacking.restart(['stayer']);
    expect(await lacking.board.ended(message)).toMatchObject({ state: 'completed' });
    const after = await lacking.restart(ALL);
    expect(await after.ended(order)).toMatchObject({ state: 'completed', error_count: 0, artifact_count: 2 });
    expect(await lacking.status(order)).not.toHaveProperty('waiting_for_agents');
    expect(await executions('without_agent=true')).toEqual([]);
    expect(await metric('starling_executions_without_agent{')).toEqual([]);
    expect(after.app.logLines.filter(({ level }) => level === 40)).toEqual([]);
  });

  it('waits for its next attempt too, and for the end of its process', async () => {
    const before = await lacking.start(ALL);
    const retried = await before.publish('Doomed', {});
    await eventually(
      'its first attempt has failed',
      async () =>
        (await executions('agent=unlucky'))[0]?.state === 'pending' &&
        before.app.logLines.some(({ outcome }) => outcome === 'retried'),
    );
    const running = await before.publish('Gated', { n: 1, batch: 'ended' });
    await started('ended', 1);
    await lacking.restart(['stayer']);
    lacking.clock.advance(10 * MINUTE);
    await eventually('both wait', async () => (await executions('without_agent=true')).length === 2);
    expect(await lacking.status(retried)).toMatchObject({ state: 'active', waiting_for_agents: ['unlucky'] });

    const after = await lacking.restart(ALL);
    expect(await after.ended(retried)).toMatchObject({ state: 'completed', error_count: 0 });
    await started('ended', 2);
    gatesOf('ended')[1]!.open();
    expect(await after.ended(running)).toMatchObject({ state: 'completed', error_count: 0 });
  });

  it('takes no place of the others, and has a separate limit', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    for (let n = 0; n < 3; n += 1) await before.publish('Order', { n });
    const limits = { maxPendingExecutions: 1, maxExecutionsWithoutAgent: 4 };
    const board = await lacking.restart(['stayer'], { settings: limits });
    expect(await board.ended(await board.publish('Message', { n: 1 }))).toMatchObject({ state: 'completed' });

    await lacking.restart(ALL, { role: SERVER });
    await lacking.board.publish('Order', { n: 3 });
    await lacking.restart(['stayer'], { settings: limits });
    for (const [path, body] of [
      ['/api/v1/artifacts', { type: 'Message', payload: { n: 1 } }],
      ['/run/flock', { agent_name: 'stayer', inputs: { n: 1 } }],
      ['/run/batch', { agent_name: 'stayer', batch_inputs: [{ n: 1 }] }],
    ] as const) {
      const { status, headers, body: answer } = await lacking.board.http.post(path).send(body);
      expect([status, headers['retry-after'], answer]).toEqual([
        503,
        '5',
        {
          detail:
            '4 executions wait for agents that no process has, which is the limit; start a process with price, or end them with POST /api/v1/executions/fail',
        },
      ]);
    }
    await operate(lacking.board.http, 'fail', { agent: 'price' });
    expect(await lacking.board.ended(await lacking.board.publish('Message', { n: 1 }))).toMatchObject({
      state: 'completed',
    });
  });

  it('is ended by a deadline and by cancelling', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const late = await before.publish('Order', { n: 1 }, { deadline: 'PT5M' });
    const unwanted = await before.publish('Order', { n: 2 });
    const board = await lacking.restart(['stayer'], { settings: { maxPendingExecutions: 1 } });
    await board.http.post(`/api/v1/correlations/${unwanted}/cancel`).expect(200);
    expect(await board.status(unwanted)).toMatchObject({ state: 'cancelled' });
    lacking.clock.advance(5 * MINUTE);
    expect(await board.ended(late)).toMatchObject({ state: 'cancelled' });
    expect(await executions('without_agent=true')).toEqual([]);
    // Neither was counted among the executions that wait for a place.
    await board.publish('Message', { n: 1 });
  });

  it('keeps a batch waiting, which continues when the agent is back', async () => {
    const before = await lacking.start(ALL);
    const id = await send(before, 'gate', orders(5, { batch: 'rows' }), { max_workers: 2 });
    await started('rows', 1);
    await lacking.restart(['stayer']);
    lacking.clock.advance(10 * MINUTE);
    await eventually('the running one waits', async () => (await executions('without_agent=true')).length > 0);
    expect(await show(lacking.board, id)).toMatchObject({
      status: 'running',
      failed_items: 0,
      waiting_for_agents: ['gate'],
    });
    // It takes no share of the others.
    const other = await send(lacking.board, 'stayer', orders(20), { max_workers: 20 });
    await eventually(
      'the other one has finished',
      async () => (await show(lacking.board, other)).status === 'completed',
    );

    const after = await lacking.restart(ALL);
    await eventually('the batch has finished', async () => {
      gatesOf('rows').forEach((gate) => gate.open());
      return (await show(after, id)).status !== 'running';
    });
    expect(await show(after, id)).toMatchObject({ status: 'completed', completed_items: 5, failed_items: 0 });
    expect(await show(after, id)).not.toHaveProperty('waiting_for_agents');
  });

  it('keeps its due time, after which it fails or escalates when the agent is back', async () => {
    const before = await lacking.start(ALL);
    const inTime = await before.publish('Request', { n: 1 });
    await lacking.restart(['stayer']);
    lacking.clock.advance(30 * MINUTE);
    await lacking.restart(ALL);
    const held = await new Outside(lacking.board.http).claimOne({ agents: ['approver'] });
    expect(await new Outside(lacking.board.http).send(held, 'complete', { output: { ok: true } })).toMatchObject({
      status: 200,
    });
    expect(await lacking.board.ended(inTime)).toMatchObject({ state: 'completed' });

    const late = await lacking.board.publish('Request', { n: 2 });
    await lacking.restart(['stayer']);
    lacking.clock.advance(61 * MINUTE);
    // A timer that is due after it has fired: this timer has been checked.
    const own = await lacking.board.publish('Message', { n: 1 }, { visibility: { kind: 'After', ttl: 'PT1S' } });
    lacking.clock.advance(MINUTE);
    await lacking.board.ended(own);
    expect(await lacking.status(late)).toMatchObject({ state: 'active', waiting_for_agents: ['approver'] });
    await lacking.restart(ALL);
    expect(await lacking.board.ended(late)).toMatchObject({ state: 'failed', error_count: 1 });
    expect((await lacking.board.artifacts(late)).at(-1)!.payload).toMatchObject({ error_type: 'overdue' });
  });
});

describe('a join group or batch window whose subscription no process has', () => {
  let lacking: MissingAgentsBoard;

  beforeEach(() => {
    lacking = new MissingAgentsBoard();
  });

  afterEach(() => lacking.remove());

  /** Waits until every due timer has been checked. */
  const passTime = async (ms: number): Promise<void> => {
    lacking.clock.advance(ms - MINUTE);
    const own = await lacking.board.publish('Message', { n: 1 }, { visibility: { kind: 'After', ttl: 'PT1M' } });
    lacking.clock.advance(MINUTE);
    await lacking.board.ended(own);
  };

  it('waits beyond its time, and continues when the subscription is back', async () => {
    const before = await lacking.start(ALL);
    const left = await before.publish('Left', {});
    const event = await before.publish('Event', {});
    const board = await lacking.restart(['stayer']);
    await passTime(20 * MINUTE);
    for (const [correlation, agent] of [
      [left, 'pairer'],
      [event, 'window'],
    ] as const) {
      expect(await lacking.status(correlation)).toMatchObject({
        state: 'active',
        error_count: 0,
        waiting_for_agents: [agent],
      });
    }
    const [artifact] = await board.artifacts(left);
    const { verdicts } = (await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200)).body as {
      verdicts: object[];
    };
    expect(verdicts.at(-1)).toMatchObject({
      agent: 'pairer',
      subscription: null,
      verdict: 'join_waiting',
      detail: expect.stringContaining('no process has its subscription of pairer') as string,
    });
    expect((await board.http.get('/metrics')).text).toContain('starling_groups_without_subscription{agent="pairer"} 1');
    expect(board.app.logLines.filter(({ level }) => level === 40)).toMatchObject([
      { agents: { pairer: { executions: 0, groups: 1 }, window: { executions: 0, groups: 1 } } },
    ]);

    const after = await lacking.restart(ALL);
    expect(await after.ended(event)).toMatchObject({ state: 'completed', error_count: 0 });
    // It has its full time again.
    lacking.clock.advance(9 * MINUTE);
    await after.publish('Right', {}, { correlation: left });
    expect(await after.ended(left)).toMatchObject({ state: 'completed', error_count: 0, artifact_count: 3 });
  });

  it('expires if nothing arrives within its new time', async () => {
    await lacking.start(ALL);
    const left = await lacking.board.publish('Left', {});
    await lacking.restart(['stayer']);
    await passTime(20 * MINUTE);
    await lacking.restart(ALL);
    await passTime(10 * MINUTE);
    expect(await lacking.board.ended(left)).toMatchObject({ state: 'failed', error_count: 1 });
    expect((await lacking.board.artifacts(left)).at(-1)!.payload).toMatchObject({
      error_type: 'join_expired',
      error_message: "pairer waited for Right and the join's window ended",
    });
  });

  it('is not dropped without an evaluation', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const claim = await before.publish('Claim', { n: 1 });
    await before.publish('Proof', { n: 1 }, { correlation: claim });
    await lacking.restart(['stayer']);
    await passTime(5 * MINUTE);
    expect(await lacking.status(claim)).toMatchObject({ state: 'active', waiting_for_agents: ['judge'] });
    await lacking.restart(ALL);
    expect(await lacking.board.ended(claim)).toMatchObject({ state: 'completed', artifact_count: 3 });
  });

  it('is ended by a deadline and by cancelling', async () => {
    const before = await lacking.start(ALL);
    const late = await before.publish('Left', {}, { deadline: 'PT15M' });
    const unwanted = await before.publish('Event', {});
    await lacking.restart(['stayer']);
    await passTime(12 * MINUTE);
    await lacking.board.http.post(`/api/v1/correlations/${unwanted}/cancel`).expect(200);
    lacking.clock.advance(3 * MINUTE);
    expect(await lacking.board.ended(late)).toMatchObject({ state: 'cancelled' });
    expect(await lacking.board.app.database.rows('select id from timers')).toEqual([]);
    expect(await lacking.board.app.database.rows('select id from join_groups')).toEqual([]);
  });
});
