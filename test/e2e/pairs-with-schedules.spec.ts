// Pairs of rules of which one is a schedule. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { started } from './batch-board.js';
import { EXTERNAL, GATED, MINUTE, ONCE, PairsBoard } from './pairs-board.js';

const CONFIG = `
agents:
  joined: { consumes: [{ types: [Joined, Part], join: { by: payload.order } }], ${EXTERNAL} }
  joined_in_time: { consumes: [{ types: [JoinedInTime, Part], join: { by: payload.order, within: 5h } }], ${EXTERNAL} }
  gathered: { consumes: [{ types: [Gathered], batch: { size: 2 } }], ${EXTERNAL} }
  gathered_in_time: { consumes: [{ types: [GatheredInTime], batch: { size: 2, timeout: 5h } }], ${EXTERNAL} }
  settled: { consumes: [{ types: [Settled], debounce: { wait: 5h, at_most: 5h } }], ${EXTERNAL} }
  turned: { consumes: [{ types: [Turned] }], singleton: { key: "'a'", on_conflict: queue }, timeout: 50h, ${EXTERNAL} }
  passed_by: { consumes: [{ types: [PassedBy] }], singleton: { key: "'a'", on_conflict: skip }, ${EXTERNAL} }
  broken: { consumes: [{ types: [Broken] }], breaker: { failures: 50%, of: 2, open: 50h }, ${ONCE}, ${GATED} }
  paused: { consumes: [{ types: [Paused] }], ${EXTERNAL} }
  newest: { consumes: [{ types: [Newest] }], cancel_on: { types: [Newest], key: "'a'" }, ${EXTERNAL} }
  cached: { consumes: [{ types: [Cached] }], publishes: [{ type: Told }], cache: { for: 50h }, engine: { kind: expression, expression: "{'n': 1}" } }
  slow: { consumes: [{ types: [Slow] }], ${ONCE}, publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 5m }
  replayed: { consumes: [{ types: [Replayed] }], ${EXTERNAL} }
  shared: { consumes: [{ types: [Shared] }], fair_by: payload.order, ${EXTERNAL} }
`;

const MOST_PENDING = 20;

interface Tick {
  state: string;
  correlation_id: string;
}

describe('a schedule and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, executions, ends, fails, waitsFor, pause, claim, complete, replay } = pairs;

  beforeAll(() => pairs.start(CONFIG, { maxPendingExecutions: MOST_PENDING }));
  afterAll(() => pairs.close());

  /** The schedule of the test. It has the name of its type, because the ticks of a name are kept. */
  let schedule: string;
  afterEach(async () => {
    await pairs.board.http.delete(schedule).expect(200);
  });

  /** The earliest first. */
  const ticks = async (): Promise<Tick[]> =>
    ((await pairs.board.http.get(`${schedule}/ticks`).expect(200)).body as { ticks: Tick[] }).ticks.toReversed();

  /** Waits for the next tick, and returns the states of all. */
  const next = async (): Promise<string[]> => {
    const { length } = await ticks();
    clock.advance(MINUTE);
    await eventually('another tick', async () => (await ticks()).length > length);
    return (await ticks()).map(({ state }) => state);
  };

  /** Creates a schedule whose ticks have this type, and returns the states of its first two ticks. */
  const twice = async (type: string, overlap = 'skip', payload: object = { order: type }): Promise<string[]> => {
    const options = { every: '1m', overlap, publishes: { type, payload } };
    await pairs.board.http.post('/api/v1/schedules').send({ name: type, options }).expect(200);
    schedule = `/api/v1/schedules/${type}`;
    await next();
    return next();
  };

  const BOTH = ['published', 'published'];
  const ONE = ['published', 'skipped'];

  it('a join without a time limit: a tick that waits in it is not active, and has another correlation', async () => {
    expect(await twice('Joined')).toEqual(BOTH);
    expect(new Set((await ticks()).map(({ correlation_id: id }) => id)).size).toBe(2);
  });

  it('a deadline: a tick has none, and its execution ends with the timeout of its agent', async () => {
    const publishes = { type: 'Slow', payload: { batch: 'slow', n: 1 }, deadline: '1m' };
    const refused = await pairs.board.http
      .post('/api/v1/schedules')
      .send({ name: 'Slow', options: { every: '1m', publishes } });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('deadline')]);
    expect(await twice('Slow', 'skip', { batch: 'slow', n: 1 })).toEqual(ONE);
    const { correlation_id: id } = (await ticks())[0]!;
    await started('slow', 1);
    clock.advance(5 * MINUTE);
    await ends(id, 'failed');
    expect(await executions(id)).toMatchObject([{ state: 'failed', error_type: 'timeout' }]);
  });

  it('a join with a time limit: the next tick comes after the join is complete', async () => {
    expect(await twice('JoinedInTime')).toEqual(ONE);
    await publish('Part', ['part'], { order: 'JoinedInTime' });
    await complete(await claim('joined_in_time'));
    expect(await next()).toEqual([...ONE, 'published']);
  });

  it('a batch window without a time limit: it gathers ticks', async () => {
    expect(await twice('Gathered')).toEqual(BOTH);
    const [held] = await claim('gathered');
    expect(held!.inputs).toHaveLength(2);
    await complete([held!]);
  });

  it('a batch window with a time limit: a tick that waits in it is active', async () => {
    expect(await twice('GatheredInTime')).toEqual(ONE);
  });

  it('debounce: a tick that waits in a window is active, so that only `allow` lets a later one take its place', async () => {
    expect(await twice('Settled')).toEqual(ONE);
    const options = { every: '1m', publishes: { type: 'Settled' } };
    await pairs.board.http.put(schedule).send({ options }).expect(200);
    expect(await next()).toEqual([...ONE, 'published']);
    const [first] = await ticks();
    await ends(first!.correlation_id);
    expect(await executions(first!.correlation_id)).toMatchObject([{ state: 'cancelled' }]);
  });

  it('singleton: a tick whose execution waits for its turn is active', async () => {
    await publish('Turned', ['turn']);
    const held = await claim('turned');
    expect(await twice('Turned')).toEqual(ONE);
    await complete(held);
    await complete(await claim('turned'));
    expect(await next()).toEqual([...ONE, 'published']);
  });

  it('singleton with skip: a tick whose execution is skipped has ended', async () => {
    await publish('PassedBy', ['other']);
    await claim('passed_by');
    expect(await twice('PassedBy')).toEqual(BOTH);
    for (const { correlation_id } of await ticks()) await ends(correlation_id);
  });

  it('a breaker: a tick whose execution waits for it is active', async () => {
    await publish('Broken', ['broken']);
    await fails('broken');
    await ends('broken', 'failed');
    expect(await twice('Broken')).toEqual(ONE);
    await waitsFor((await ticks())[0]!.correlation_id, /^breaker of broken: open/);
  });

  it('a pause of the agent: a tick whose execution waits is active', async () => {
    await pause('paused');
    expect(await twice('Paused')).toEqual(ONE);
  });

  it('cancel_on: a tick cancels the execution of the one before', async () => {
    expect(await twice('Newest', 'allow')).toEqual(BOTH);
    const [first, second] = await ticks();
    await ends(first!.correlation_id);
    expect(await executions(first!.correlation_id)).toMatchObject([{ state: 'cancelled' }]);
    expect(await executions(second!.correlation_id)).toMatchObject([{ state: 'pending' }]);
  });

  it('fair_by and max_pending_executions: a tick is published although no more may wait, and takes turns', async () => {
    const isRefused = async (type: string, order: string): Promise<boolean> =>
      (await pairs.board.http.post('/api/v1/artifacts').send({ type, payload: { order } })).status === 503;
    await eventually('its key has its share', () => isRefused('Shared', 'Shared'));
    const other = await pairs.board.publish('Shared', { order: 'other' });
    await eventually('no more may wait', () => isRefused('Shared', 'more'));
    await eventually('no more of any agent may wait', () => isRefused('Replayed', 'more'));
    expect(await twice('Shared', 'allow')).toEqual(BOTH);
    const [first, second] = await ticks();
    const order: string[] = [];
    while (order.at(-1) !== second!.correlation_id) {
      const [held] = await claim('shared', 1);
      order.push(held!.correlation_id);
      await complete([held!]);
    }
    // Three keys take turns, and the ticks came after the others of theirs.
    expect(order.indexOf(other)).toBeLessThanOrEqual(2);
    expect(order.indexOf(first!.correlation_id)).toBeGreaterThan(MOST_PENDING / 2);
  });

  it('cache: ticks with equal payloads take the answer of the first', async () => {
    expect(await twice('Cached')).toEqual(BOTH);
    const [first, second] = await ticks();
    for (const { correlation_id } of [first!, second!]) await ends(correlation_id);
    const [asked] = await executions(first!.correlation_id);
    expect(await executions(second!.correlation_id)).toMatchObject([{ cached_from: asked!.id }]);
  });

  it('cancel and a replay: after its correlation is cancelled, the next tick comes, also while it is replayed', async () => {
    expect(await twice('Replayed')).toEqual(ONE);
    const [first] = await ticks();
    await pairs.board.http.post(`/api/v1/correlations/${first!.correlation_id}/cancel`).expect(200);
    const replayed = await replay(first!.correlation_id);
    expect((await pairs.board.status(replayed)).state).toBe('active');
    expect(await next()).toEqual([...ONE, 'published']);
  });
});
