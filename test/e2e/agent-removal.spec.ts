import { eventually } from '../support/eventually.js';
import { gatesOf, started } from './batch-board.js';
import { type AgentName, ALL, MissingAgentsBoard } from './missing-agents-board.js';
import { endedOperation, type Operation } from './operations.js';
import { SERVER } from './replica-boards.js';

const MINUTE = 60_000;

/** Uses the whole app over HTTP, stopped and started again with other agents on one database. The clock is faked. */
describe('POST /api/v1/executions/fail', () => {
  let lacking: MissingAgentsBoard;

  beforeEach(() => {
    lacking = new MissingAgentsBoard();
  });

  afterEach(() => lacking.remove());

  /** Returns the status of the answer and, after the end of the operation, how much it has ended; or the error. */
  const fail = async (body: object): Promise<[number, number | object]> => {
    const { http } = lacking.board;
    const { status, body: answer } = await http.post('/api/v1/executions/fail').send(body);
    if (status !== 200) return [status, answer as object];
    const { state, matched, done, failed } = await endedOperation(http, (answer as Operation).operation_id);
    expect([state, matched, failed]).toEqual(['completed', done, 0]);
    return [status, done];
  };
  const without = (...names: AgentName[]): AgentName[] => ALL.filter((name) => !names.includes(name));

  it('fails the executions of an agent that no process has, some at a time, and no others', async () => {
    const orders = 250;
    const before = await lacking.start(ALL, { role: SERVER });
    const correlations: string[] = [];
    for (let n = 0; n < orders; n += 1)
      correlations.push(await before.publish('Order', { n }, { correlation: `order-${n % 5}` }));
    const request = await before.publish('Request', { n: 1 });
    const board = await lacking.restart(['stayer']);
    expect(await fail({ agent: 'price' })).toEqual([200, orders]);
    for (const id of new Set(correlations))
      expect(await board.ended(id)).toMatchObject({ state: 'failed', error_count: orders / 5 });
    const [error] = await board.artifacts('order-0', { type: 'WorkflowError' });
    expect(error!.payload).toMatchObject({
      failed_agent: 'price',
      error_type: 'agent_removed',
      error_message: 'no process has the agent price; a request ended this execution',
      attempts: 1,
    });
    expect(await board.status(request)).toMatchObject({ state: 'active', waiting_for_agents: ['approver'] });
    // One transaction for all of them would block every other write.
    const { text } = await board.http.get('/metrics').expect(200);
    expect(Number(/^starling_database_transaction_seconds_count (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(
      orders / 100,
    );

    // The request may arrive twice.
    expect(await fail({ agent: 'price' })).toEqual([200, 0]);
    expect(await fail({ agent: 'approver' })).toEqual([200, 1]);
    expect(await board.app.database.rows('select id from timers')).toEqual([]);
  });

  it('fails an execution that waits for its next attempt, and one that its process left running', async () => {
    const before = await lacking.start(ALL);
    const retried = await before.publish('Doomed', {});
    await eventually('its first attempt has failed', () =>
      before.app.logLines.some(({ outcome }) => outcome === 'retried'),
    );
    const running = await before.publish('Gated', { n: 1, batch: 'removed' });
    await started('removed', 1);
    const board = await lacking.restart(['stayer']);
    gatesOf('removed').forEach((gate) => gate.open());
    expect(await fail({ agent: 'unlucky' })).toEqual([200, 1]);
    expect(await fail({ agent: 'gate' })).toEqual([200, 1]);
    expect(await board.ended(retried)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await board.ended(running)).toMatchObject({ state: 'failed', error_count: 1 });
  });

  it('drops join groups and batch windows, with an error in each correlation that they keep open', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const left = await before.publish('Left', {});
    const events = [await before.publish('Event', {}), await before.publish('Event', {})];
    const claim = await before.publish('Claim', { n: 1 });
    await before.publish('Proof', { n: 1 }, { correlation: claim });
    const half = await before.publish('Claim', { n: 2 });
    const board = await lacking.restart(['stayer']);
    lacking.clock.advance(20 * MINUTE);
    expect(await fail({ agent: 'pairer' })).toEqual([200, 1]);
    expect(await fail({ agent: 'window' })).toEqual([200, 1]);
    expect(await fail({ agent: 'judge' })).toEqual([200, 2]);
    for (const id of [left, ...events, claim]) {
      expect(await board.ended(id)).toMatchObject({ state: 'failed', error_count: 1 });
      expect((await board.artifacts(id)).at(-1)).toMatchObject({
        type: 'WorkflowError',
        payload: { error_type: 'agent_removed', execution_id: null },
      });
    }
    // It had settled: a join without a time limit keeps no correlation open.
    expect(await board.status(half)).toMatchObject({ state: 'completed', artifact_count: 1, error_count: 0 });
    expect(await board.app.database.rows('select id from join_groups')).toEqual([]);
    expect(await board.app.database.rows('select id from timers')).toEqual([]);
    expect(await fail({ agent: 'pairer' })).toEqual([200, 0]);
  });

  it('is refused while a process has the agent, and if the agent never existed', async () => {
    const board = await lacking.start(ALL);
    await board.http.post('/api/v1/agents/price/pause').expect(200);
    const order = await board.publish('Order', { n: 1 });
    expect(await fail({ agent: 'price' })).toEqual([
      409,
      { detail: 'A live process has the agent price and runs its executions; GET /api/v1/processes shows which' },
    ]);
    expect(await fail({ agent: 'prize' })).toEqual([404, { detail: 'Agent not found: prize' }]);
    expect(await fail({})).toEqual([400, { detail: 'The body needs a filter: agent, correlation_id, from or to' }]);
    const [status, answer] = await fail({ agent: 'a'.repeat(100_000) });
    expect([status, JSON.stringify(answer).length < 1_000]).toEqual([400, true]);
    expect(await board.status(order)).toMatchObject({ state: 'active' });
  });

  it('drops groups of a removed subscription of an agent that a process has', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const left = await before.publish('Left', {});
    await before.close();
    const config = `agents:\n  pairer: { consumes: [{ types: [Left] }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"ok": true}' } }\n`;
    const board = await lacking.startWith(config);
    const own = await board.publish('Left', {});
    expect(await board.ended(own)).toMatchObject({ state: 'completed' });
    expect(await lacking.status(left)).toMatchObject({ state: 'active', waiting_for_agents: ['pairer'] });
    expect(await fail({ agent: 'pairer' })).toEqual([200, 1]);
    expect(await board.ended(left)).toMatchObject({ state: 'failed', error_count: 1 });
    expect((await fail({ agent: 'pairer' }))[0]).toBe(409);
  });

  it('allows a retry of a failed execution when the agent is back', async () => {
    const before = await lacking.start(ALL, { role: SERVER });
    const order = await before.publish('Order', { n: 1 });
    await lacking.restart(without('price'));
    expect((await fail({ agent: 'price' }))[0]).toBe(200);
    const { items } = (await lacking.board.http.get('/api/v1/executions?agent=price').expect(200)).body as {
      items: { id: string; attempt: number; started_at: string | null }[];
    };
    expect(items).toMatchObject([{ state: 'failed', error_type: 'agent_removed', started_at: null }]);
    const retry = (): Promise<{ status: number }> =>
      lacking.board.http.post(`/api/v1/executions/${items[0]!.id}/retry`).then(({ status }) => ({ status }));
    expect(await retry()).toEqual({ status: 409 });
    await lacking.restart(ALL);
    expect(await retry()).toEqual({ status: 200 });
    await eventually('it has run', async () => (await lacking.board.artifacts(order, { type: 'Price' })).length === 1);
  });
});
