// Uses the whole app over HTTP on a database. The clock is the test's.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ended, orders, send } from './batch-board.js';
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
    '3 artifacts wait in joins, in batch windows or for their release, and this service keeps at most 3; try again later, or look in GET /api/v1/waiting for a join without within or a batch window without timeout, which wait without end';
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

describe('a join whose other artifacts can never arrive', () => {
  const AGENTS = `
server: { max_waiting_arrivals: 3 }
agents:
  sorter:
    consumes: [{ types: [Text] }]
    publishes: [{ type: Category }]
    engine: { kind: expression, expression: '{"key": payload.key}' }
  reader:
    consumes: [{ types: [Text], where: has(payload.read) }]
    publishes: [{ type: Sentiment }]
    retry: { attempts: 1 }
    engine: { kind: function, module: ./reader.js }
  writer:
    consumes: [{ types: [Category, Sentiment] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: '{}' }
  checker:
    consumes: [{ types: [Category, Check], where: 'true' }]
    engine: { kind: expression, expression: '{}' }
  matcher:
    consumes: [{ types: [Category, Order], join: { by: payload.key } }]
    publishes: [{ type: Match }]
    engine: { kind: expression, expression: '{}' }
`;
  const READER = `export default () => { if (globalThis.canRead) return {}; throw new Error('unreadable'); };`;
  let board: Board;

  beforeAll(async () => {
    board = withoutPolling(await Board.start(AGENTS, { files: { 'reader.js': READER } }));
  });

  afterAll(() => board?.close());

  interface Open {
    agent: string;
    waiting: { correlation_ids: string[] }[];
  }

  const open = async (): Promise<string[]> =>
    ((await board.http.get('/api/v1/waiting').expect(200)).body as { items: Open[] }).items
      .map(({ agent }) => agent)
      .toSorted();
  const verdicts = async (correlation: string): Promise<Record<string, string>> => {
    const [category] = await board.artifacts(correlation, { type: 'Category' });
    const { body } = await board.http.get(`/api/v1/artifacts/${category!.id}/explain`).expect(200);
    const found = (body as { verdicts: { agent: string; verdict: string; detail: string }[] }).verdicts;
    return Object.fromEntries(
      found
        .filter(({ verdict }) => verdict !== 'type')
        .map(({ agent, verdict, detail }) => [agent, `${verdict}: ${detail}`]),
    );
  };
  const replayed = async (correlation: string): Promise<string> => {
    const { body } = await board.http
      .post(`/api/v1/correlations/${correlation}/replay`)
      .send({ mode: 'full' })
      .expect(200);
    const { correlation_id: id } = body as { correlation_id: string };
    await board.ended(id);
    return id;
  };

  it('waits no longer when its run has ended, and one across correlations waits on', async () => {
    const { results } = await ended(board, await send(board, 'sorter', orders(5, { key: 'a' })));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill('completed'));
    expect(await open()).toEqual(Array(5).fill('matcher'));
    expect(await verdicts(results[0]!.run_id)).toMatchObject({
      writer:
        'join_let_go: Its correlation ended before the other types of its group arrived, and the group was dropped.',
      checker:
        'join_let_go: It joined a group whose where was not true, or whose other types had not arrived when the correlation ended, and the group was dropped.',
      matcher: expect.stringMatching(/^join_waiting: It waits for Order /) as string,
    });
    for (let count = 0; count < 5; count += 1) await board.ended(await board.publish('Order', { key: 'a' }));
    expect(await open()).toEqual([]);
    await board.publish('Sentiment', {}, { correlation: 'later' });
    expect(await open()).toEqual(['writer']);
    await board.ended(await board.publish('Category', {}, { correlation: 'later' }));
    // The writer has both, and the checker and the matcher may get theirs in this correlation.
    expect(await open()).toEqual(['checker']);
    await board.ended(await board.publish('Check', {}, { correlation: 'later' }));
    expect(await open()).toEqual([]);
  });

  it('waits no longer when a replay has ended, unless a failed execution can be retried', async () => {
    const original = await board.publish('Text', { key: 'b' });
    await board.ended(original);
    const before = await open();
    expect(before).toEqual(['checker', 'matcher', 'writer']);
    expect(await verdicts(await replayed(original))).toMatchObject({
      matcher:
        'join_let_go: Its correlation ended before the other types of its group arrived, and the group was dropped.',
    });
    expect(await open()).toEqual(before);

    const failing = await board.publish('Text', { key: 'c', read: true });
    await board.ended(failing);
    const replay = await replayed(failing);
    Object.assign(globalThis, { canRead: true });
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: replay, state: 'failed' });
    await board.http.post(`/api/v1/executions/${(body as { items: { id: string }[] }).items[0]!.id}/retry`).expect(200);
    await eventually('the writer has answered', async () => (await board.types(replay)).includes('Answer'));
  });
});
