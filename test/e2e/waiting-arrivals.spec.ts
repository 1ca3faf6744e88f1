// Uses the whole app over HTTP on a database. The clock is the test's.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, type PublishParts } from './board.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
server: { max_waiting_arrivals: 3 }
agents:
  joiner:
    consumes: [{ types: [Half, OtherHalf], join: { by: payload.key } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  judge:
    consumes: [{ types: [Claim, Proof], join: { by: payload.key }, where: 'true' }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  gatherer:
    consumes: [{ types: [Piece], batch: { size: 2 } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  sorter:
    consumes: [{ types: [Scrap], batch: { size: 2, key: payload.key } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  editor:
    consumes: [{ types: [Saved], debounce: { key: payload.key, wait: 1m, at_most: 1h } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  splitter:
    consumes: [{ types: [Task] }]
    publishes: [{ type: Half }]
    engine: { kind: expression, expression: '{"key": payload.key}' }
`;

describe('at the limit of arrivals that wait in joins, windows and before their release', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeEach(async () => {
    // A recount that overlaps a commit would set the count back for a moment. Without recounts, the count is exact.
    board = withoutPolling(await Board.start(CONFIG, { clock }));
  });

  afterEach(() => board.close());

  const waiting = async (): Promise<number> =>
    Number(/^starling_waiting_arrivals (\d+)$/m.exec((await board.http.get('/metrics')).text)![1]);
  const stored = async (): Promise<number> =>
    ((await board.http.get('/api/v1/artifacts/summary')).body as { summary: { total_count: number } }).summary
      .total_count;

  /** A commit is counted just after it. */
  const waitingIs = (count: number): Promise<void> =>
    eventually(`${count} wait`, async () => (await waiting()) === count);

  const DETAIL =
    '3 artifacts wait in joins, in batch windows or for their release, and this service keeps at most 3; try again later';
  const refused = async (type: string, payload: object, parts: PublishParts = {}): Promise<void> => {
    await waitingIs(3);
    const before = await stored();
    for (const path of ['/api/v1/artifacts', '/api/v1/artifacts/sync']) {
      const { status, body, headers } = await board.http
        .post(path)
        .set('X-Correlation-ID', 'refused')
        .send({ type, payload, ...parts });
      expect([status, body, headers['retry-after']]).toEqual([503, { detail: DETAIL }, '5']);
    }
    expect([await stored(), (await board.status('refused')).state]).toEqual([before, 'not_found']);
  };

  it('refuses another waiting artifact with 503 and Retry-After, and stores nothing of it', async () => {
    for (const key of ['a', 'b', 'c']) await board.publish('Half', { key });
    await refused('Half', { key: 'd' });
    await refused('Claim', { key: 'd' });
    await refused('Piece', {});
    await refused('Task', { key: 'd' }, { visibility: { kind: 'After', ttl: 'PT1H' } });
  });

  it('accepts artifacts that wait for nothing, and those that complete a group', async () => {
    await board.publish('Half', { key: 'a' });
    await board.publish('Claim', { key: 'a' });
    await board.publish('Piece', {});
    await board.ended(await board.publish('Whole', {}));
    for (const [type, left] of [
      ['OtherHalf', 2],
      ['Proof', 1],
      ['Piece', 0],
    ] as const) {
      expect(await board.ended(await board.publish(type, { key: 'a' }))).toMatchObject({
        state: 'completed',
        artifact_count: 2,
      });
      await waitingIs(left);
      for (let filled = left; filled < 3; filled += 1) await board.publish('Half', { key: `full-${filled}-${type}` });
      await refused('Half', { key: 'more' });
      for (let filled = left; filled < 3; filled += 1)
        await board.ended(await board.publish('OtherHalf', { key: `full-${filled}-${type}` }));
    }
  });

  it('counts the artifacts of all windows of a batch with a key', async () => {
    for (const key of ['a', 'b', 'c']) await board.publish('Scrap', { key });
    await refused('Scrap', { key: 'd' });
    await board.ended(await board.publish('Scrap', { key: 'b' }));
    await waitingIs(2);
    await board.publish('Scrap', { key: 'd' });
    await refused('Scrap', { key: 'e' });
  });

  it('counts one artifact for each window of `debounce`, and accepts those that take its place', async () => {
    for (const key of ['a', 'b', 'c']) await board.publish('Saved', { key });
    await refused('Saved', { key: 'd' });
    await board.publish('Saved', { key: 'a' });
    await refused('Half', { key: 'd' });
    clock.advance(60_000);
    await waitingIs(0);
    await board.publish('Saved', { key: 'd' });
    await waitingIs(1);
  });

  it('accepts outputs of agents, because their inputs were accepted', async () => {
    for (const key of ['a', 'b', 'c']) await board.publish('Half', { key });
    expect(await board.ended(await board.publish('Task', { key: 'd' }))).toMatchObject({
      state: 'completed',
      artifact_count: 2,
      error_count: 0,
    });
    await waitingIs(4);
    expect(await board.ended(await board.publish('OtherHalf', { key: 'd' }))).toMatchObject({ artifact_count: 2 });
    await waitingIs(3);
  });

  it('counts a delayed artifact until it is released, or its correlation is cancelled', async () => {
    const hidden = { visibility: { kind: 'After', ttl: 'PT1H' } };
    const correlations = [
      await board.publish('Task', { key: 'a' }, hidden),
      await board.publish('Task', { key: 'b' }, hidden),
    ];
    await board.publish('Half', { key: 'c' });
    await refused('Half', { key: 'd' });
    await board.http.post(`/api/v1/correlations/${correlations[0]}/cancel`).expect(200);
    await waitingIs(2);
    clock.advance(3_600_001);
    await board.ended(correlations[1]!);
    // It now waits as a half, beside the published one.
    await waitingIs(2);
  });

  it('stays near the limit under a burst, and loses none that it accepted', async () => {
    const rush = await Promise.all(
      Array.from({ length: 400 }, (_, key) =>
        board.http
          .post('/api/v1/artifacts')
          .send({ type: 'Half', payload: { key } })
          .then(({ status }) => ({ key, status })),
      ),
    );
    const accepted = rush.filter(({ status }) => status === 200);
    expect(rush.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    // Publishes that are under way at the same moment do not see the others' arrivals.
    expect(accepted.length).toBeGreaterThanOrEqual(3);
    expect(accepted.length).toBeLessThan(100);
    expect(await stored()).toBe(accepted.length);
    await waitingIs(accepted.length);
    for (const { key } of accepted)
      expect(await board.ended(await board.publish('OtherHalf', { key }))).toMatchObject({ artifact_count: 2 });
    await waitingIs(0);
  });

  it('counts the earlier arrivals after a restart', async () => {
    const folder = new ConfigurationFolder();
    const first = await Board.start(CONFIG, { clock, folder: folder.path });
    for (const key of ['a', 'b']) await first.publish('Half', { key });
    await first.publish('Task', { key: 'c' }, { visibility: { kind: 'After', ttl: 'PT1H' } });
    await first.close();
    const again = await Board.start(CONFIG, { clock, folder: folder.path });
    const { status, body } = await again.http.post('/api/v1/artifacts').send({ type: 'Half', payload: { key: 'd' } });
    await again.close();
    folder.remove();
    expect([status, body]).toEqual([503, { detail: DETAIL }]);
  });
});
