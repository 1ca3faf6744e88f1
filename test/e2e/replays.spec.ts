// Replays over HTTP. Uses the application, its database and HTTP; time is moved by the test.
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { CleanedBoard } from '../retention/cleaned-board.js';
import { SseReader, WebSocketReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Receiver } from '../support/receiver.js';
import { Board, type WireArtifact } from './board.js';
import { Experiments } from './experiment-board.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [lines] } }
  Note: {}
agents:
  splitter:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Line }]
    engine: { kind: expression, expression: 'payload.lines.map(line, {"line": line})' }
  joiner:
    consumes: [{ types: [Left, Right], mode: all, join: { by: payload.key } }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"key": payload.Left.key, "from": payload.Left.from}' }
  packer:
    consumes: [{ types: [Parcel], batch: { size: 2, timeout: 10s } }]
    publishes: [{ type: Crate }]
    engine: { kind: expression, expression: '{"parcels": payload.map(parcel, parcel.name)}' }
  refuser:
    consumes: [{ types: [Bad] }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: '{"of": payload.missing.field}' }
    retry: { attempts: 1 }
`;

describe('the memory of a replay', () => {
  const KIB = 1_024;
  let board: Board;
  beforeAll(async () => {
    board = await Board.start('types: { Note: {} }\nagents: {}\n', { settings: { memoryBudgetBytes: KIB ** 2 } });
  });
  afterAll(() => board?.close());

  test.each(['full', 'recorded'])('with mode %s is reserved, or refused for good if it is too much', async (mode) => {
    const post = (id: string) => board.http.post(`/api/v1/correlations/${id}/replay`).send({ mode });
    const [small, large] = [`small-${mode}`, `large-${mode}`];
    const text = 'x'.repeat(100 * KIB);
    await board.publish('Note', { text }, { correlation: small });
    for (let n = 0; n < 5; n++) await board.publish('Note', { text }, { correlation: large });
    const refused = await post(large);
    expect([refused.status, (refused.body as { detail: string }).detail]).toEqual([
      409,
      expect.stringMatching(
        new RegExp(
          `^Correlation ${large} is too large: its replay takes \\d+ bytes of memory, and memory_budget allows 917504 to one request; increase memory_budget$`,
        ),
      ),
    ]);
    const others = board.app.app.get(MemoryBudget, { strict: false }).hold(700 * KIB);
    expect((await post(small)).status).toBe(503);
    others.release();
    expect((await post(small)).status).toBe(200);
  });
});

describe('a replay of a run', () => {
  const clock = new ManualClock();
  let board: Board;
  beforeAll(async () => {
    board = await Board.start(`server: { retain_executions: 10d, retain_runs: 10d }\n${CONFIG}`, { clock });
  });
  afterAll(() => board?.close());

  test('is refused if it is not known any more which agent it was run with', async () => {
    const replay = async (id: string): Promise<[number, Partial<ReplayBody> & { detail?: string }]> => {
      const { status, body } = await board.http.post(`/api/v1/correlations/${id}/replay`).send({ mode: 'full' });
      return [status, body as ReplayBody];
    };
    const body = { agent_name: 'splitter', inputs: { lines: ['lamp'] } };
    const run = ((await board.http.post('/run/flock').send(body).expect(200)).body as { run_id: string }).run_id;
    const inputs = [{ type: 'Order', payload: { lines: ['sofa'] } }];
    await board.http.post('/api/v1/agents/splitter/run').send({ inputs }).expect(200);
    const executions = await board.http.get('/api/v1/executions').query({ agent: 'splitter' }).expect(200);
    const direct = (executions.body as { items: { correlation_id: string; direct: boolean }[] }).items.find(
      (execution) => execution.direct,
    )!.correlation_id;
    await board.publishSync('Order', { lines: ['desk'] }, { correlation: 'published' });
    const [[, ofRun], [, ofDirect]] = [await replay(run), await replay(direct)];
    for (const { correlation_id } of [ofRun, ofDirect]) await board.ended(correlation_id!);
    expect(await replay(ofRun.correlation_id!)).toEqual([
      409,
      { detail: `Correlation ${ofRun.correlation_id} repeats a run of one agent; replay the original ${run} instead` },
    ]);
    const cleaned = new CleanedBoard(board, clock);
    // Executions of a run are deleted after the run.
    await cleaned.cleanUpAfter(11);
    await cleaned.cleanUpAfter(11);
    expect(await cleaned.count('executions')).toBe(0);
    for (const id of [run, direct])
      expect(await replay(id)).toEqual([
        409,
        { detail: `Retention has deleted which agent correlation ${id} was run with, so it cannot be replayed` },
      ]);
    expect((await replay(ofDirect.correlation_id!))[0]).toBe(409);
    expect((await replay('published'))[0]).toBe(200);
  });
});

describe('a replay of a trial on a row of a CSV', () => {
  let board: Board;
  beforeAll(async () => {
    const agent = `consumes: [{ types: [Row] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": payload.n}' }`;
    board = await Board.start(`agents: { clerk: { ${agent} } }\n`);
  });
  afterAll(() => board?.close());

  test('is refused, with the experiment to run instead', async () => {
    const experiments = new Experiments(board.http);
    const { experiment_id } = await experiments.run({
      data: { csv: 'n\n1\n', agent: 'clerk' },
      output: 'Done',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers: [{ name: 'latency', kind: 'latency' }],
    });
    const [row] = await experiments.rows(experiment_id);
    const id = row!.trials[0]!.correlation_id;
    await board.http
      .post(`/api/v1/correlations/${id}/replay`)
      .send({ mode: 'full' })
      .expect(409, {
        detail: `Correlation ${id} is a trial on a row of a CSV, which cannot be replayed; run its experiment ${experiment_id} again instead`,
      });
  });
});

describe('a replay', () => {
  const clock = new ManualClock();
  let board: Board;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    board = await Board.start(CONFIG, {
      clock,
      settings: { webhookUrl: receiver.url('/all'), outboundAllow: ['127.0.0.1/32'] },
    });
  });
  afterAll(async () => {
    await board?.close();
    await receiver?.close();
  });

  const post = (path: string, body: object = { mode: 'full' }) => board.http.post(`/api/v1/${path}/replay`).send(body);
  const replay = async (path: string): Promise<ReplayBody> => {
    const { status, body } = await post(path);
    expect([status, body]).toEqual([200, body]);
    await board.ended((body as ReplayBody).correlation_id);
    return body as ReplayBody;
  };
  const refused = async (path: string, status: number, detail: string, body?: object): Promise<void> => {
    const answer = await post(path, body);
    expect([answer.status, answer.body]).toMatchObject([status, { detail }]);
  };
  const shown = ({ type, payload, produced_by, tags }: WireArtifact) => ({ type, payload, produced_by, tags });
  const get = async <T>(path: string, query: object = {}): Promise<T> =>
    (await board.http.get(`/api/v1/${path}`).query(query).expect(200)).body as T;

  test('repeats what clients published in a new correlation, and leaves the original as it is', async () => {
    await board.publishSync('Order', { lines: ['lamp', 'sofa'] }, { correlation: 'order-1', tags: ['channel:web'] });
    await board.publishSync(
      'Note',
      { text: 'later' },
      { correlation: 'order-1', visibility: { kind: 'Tenant', tenant_id: 'acme' } },
    );
    const before = await board.artifacts('order-1');
    const { correlation_id, ...answer } = await replay('correlations/order-1');
    expect(answer).toEqual({ origin: 'order-1', mode: 'full', published: 2 });
    const [order, note] = await board.artifacts(correlation_id);
    expect([order, note].map((artifact) => shown(artifact!))).toEqual(
      before.filter(({ produced_by }) => produced_by === 'external').map(shown),
    );
    expect((await board.types(correlation_id)).sort()).toEqual(['Line', 'Line', 'Note', 'Order']);
    expect(await board.artifacts('order-1')).toEqual(before);
    expect(await board.status(correlation_id)).toMatchObject({
      origin: 'order-1',
      replay_mode: 'full',
      state: 'completed',
    });
    expect(await board.status('order-1')).not.toHaveProperty('origin');
    // A full replay is a real run for the webhooks of the operator.
    await eventually(
      'the webhooks of the replay have come',
      () => receiver.received.filter(({ correlation }) => correlation === correlation_id).length === 4,
    );
  });

  test('of an artifact repeats this one alone; a run begins with its agent again', async () => {
    await board.publish('Order', { lines: ['desk'] }, { correlation: 'order-2' });
    await board.publish('Order', { lines: ['bed'] }, { correlation: 'order-2' });
    await board.ended('order-2');
    const second = (await board.artifacts('order-2', { type: 'Order' }))[1]!;
    const { correlation_id } = await replay(`artifacts/${second.id}`);
    expect((await board.artifacts(correlation_id)).map(({ payload }) => payload)).toEqual([
      { lines: ['bed'] },
      { line: 'bed' },
    ]);
    const run = await board.http
      .post('/run/flock')
      .send({ agent_name: 'splitter', inputs: { lines: ['run'] } })
      .expect(200);
    const again = await replay(`correlations/${(run.body as { run_id: string }).run_id}`);
    expect(await board.types(again.correlation_id)).toEqual(['Order', 'Line']);
  });

  test('joins and batches with nothing but its own artifacts', async () => {
    await board.publish('Left', { key: 'k', from: 'original' }, { correlation: 'left-1' });
    const left = await replay('correlations/left-1');
    await board.publishSync('Right', { key: 'k' }, { correlation: 'right-1' });
    expect((await board.artifacts('right-1', { type: 'Pair' })).map(({ payload }) => payload)).toEqual([
      { key: 'k', from: 'original' },
    ]);
    const right = await replay('correlations/right-1');
    expect([await board.types(left.correlation_id), await board.types(right.correlation_id)]).toEqual([
      ['Left'],
      ['Right'],
    ]);
    const groups = await get<{ items: object[] }>('waiting', { correlation_id: left.correlation_id });
    expect(groups.items).toEqual([]);

    await board.publish('Parcel', { name: 'live' }, { correlation: 'parcel-1' });
    clock.advance(10_000);
    await board.ended('parcel-1');
    const response = await post('correlations/parcel-1');
    await board.publish('Parcel', { name: 'other' }, { correlation: 'parcel-2' });
    clock.advance(10_000);
    const { correlation_id } = response.body as ReplayBody;
    await board.ended(correlation_id);
    await board.ended('parcel-2');
    const crates = async (id: string) => (await board.artifacts(id, { type: 'Crate' })).map(({ payload }) => payload);
    expect([await crates(correlation_id), await crates('parcel-2')]).toEqual([
      [{ parcels: ['live'] }],
      [{ parcels: ['other'] }],
    ]);
  });

  test('is left out of lists and streams, unless they ask for it', async () => {
    const readers = [
      await SseReader.open(board.app.url, { live: true }),
      await WebSocketReader.open(board.app.url, { live: true }),
    ];
    const all = await WebSocketReader.open(board.app.url, { replay: true, live: true });
    const summary = () => get<{ summary: { total_count: number } }>('artifacts/summary');
    const list = (query: object) => get<{ items: WireArtifact[]; pagination: { total: number } }>('artifacts', query);
    await board.publishSync('Order', { lines: ['lamp'] }, { correlation: 'order-3' });
    const before = {
      total: (await summary()).summary.total_count,
      list: (await list({ type: 'Order' })).pagination.total,
    };
    const { correlation_id } = await replay('correlations/order-3');
    expect({
      total: (await summary()).summary.total_count,
      list: (await list({ type: 'Order' })).pagination.total,
    }).toEqual(before);
    for (const query of [
      { order: 'desc' },
      { type: 'Order' },
      { from: '2000-01-01' },
      { type: 'Line', produced_by: 'splitter' },
    ]) {
      const without = await list({ ...query, limit: 500 });
      const included = await list({ ...query, limit: 500, replay: true });
      expect(without.items.filter((artifact) => artifact.correlation_id === correlation_id)).toEqual([]);
      expect(included.items.filter((artifact) => artifact.correlation_id === correlation_id)).not.toEqual([]);
      expect([without.pagination.total, included.pagination.total]).toEqual([
        without.items.length,
        included.items.length,
      ]);
    }
    const ids = async (path: string, query: object = {}) =>
      (await get<{ items: { correlation_id: string }[] }>(path, { limit: 500, ...query })).items.map(
        (item) => item.correlation_id,
      );
    const isOfReplay = (entry: { correlation_id: string }): boolean => entry.correlation_id === correlation_id;
    const marks = async (correlation: string) =>
      (await get<{ items: { replay?: boolean }[] }>('changelog/events', { correlation_id: correlation })).items.map(
        (item) => item.replay,
      );
    expect([await marks(correlation_id), await marks('order-3')]).toEqual([
      [true, true],
      [undefined, undefined],
    ]);
    for (const path of ['executions', 'correlations', 'changelog/events']) {
      expect(await ids(path)).not.toContain(correlation_id);
      expect(await ids(path, { replay: true })).toContain(correlation_id);
    }
    expect(await ids('correlations', { agent: 'splitter', state: 'completed' })).not.toContain(correlation_id);
    expect(await ids('executions', { correlation_id })).toEqual([correlation_id]);
    await eventually(
      'the replay is on the stream that asks for it',
      () => all.liveEvents.some(isOfReplay) && all.entries.filter(isOfReplay).length >= 2,
    );
    expect(all.entries.filter(isOfReplay).map((entry) => entry.replay)).toEqual([true, true]);
    await board.publish('Note', { text: 'last' }, { correlation: 'note-1' });
    for (const reader of readers) {
      await eventually('the last entry has come', () =>
        reader.entries.some((entry) => entry.correlation_id === 'note-1'),
      );
      expect(reader.all.filter(isOfReplay)).toEqual([]);
    }
    [...readers, all].forEach((reader) => reader.close());
  });

  test.each([
    ['GET /api/v1/changelog/stream', SseReader],
    ['the WebSocket', WebSocketReader],
  ])('is on a stream that names its correlation, without replay: %s', async (_, Reader) => {
    await board.publish('Parcel', { name: 'followed' }, { correlation: `followed-${Reader.name}` });
    clock.advance(10_000);
    await board.ended(`followed-${Reader.name}`);
    const { correlation_id } = (await post(`correlations/followed-${Reader.name}`)).body as ReplayBody;
    // The batch window keeps the replay open until the clock moves.
    const early = await Reader.open(board.app.url, { correlation_id, after: 0, live: true });
    clock.advance(10_000);
    await board.ended(correlation_id);
    const late = await Reader.open(board.app.url, { correlation_id, after: 0 });
    for (const reader of [early, late]) {
      await eventually('both artifacts have come', () => reader.entries.length === 2);
      expect(reader.entries.map((entry) => [entry.artifact_type, entry.correlation_id, entry.replay])).toEqual([
        ['Parcel', correlation_id, true],
        ['Crate', correlation_id, true],
      ]);
    }
    await eventually('its end has come', () =>
      early.liveEvents.some((event) => event.event_type === 'correlation_settled'),
    );
    expect(new Set(early.all.map((event) => event.correlation_id))).toEqual(new Set([correlation_id]));
    [early, late].forEach((reader) => reader.close());
  });

  test('counts in no failure group, and takes no artifacts of clients', async () => {
    await board.publishSync('Bad', {}, { correlation: 'bad-1' });
    const groups = () => get<{ items: { count: number }[] }>('executions/failures', { agent: 'refuser' });
    const { correlation_id } = await replay('correlations/bad-1');
    expect(await board.types(correlation_id)).toEqual(['Bad', 'WorkflowError']);
    expect((await groups()).items).toMatchObject([{ count: 1 }]);
    const answer = await board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation_id)
      .send({ type: 'Note', payload: {} });
    expect([answer.status, answer.body]).toMatchObject([
      409,
      { detail: `Correlation ${correlation_id} is a replay of bad-1 and takes no artifacts; publish into another one` },
    ]);
  });

  test('that an earlier request with the key began is the answer, even if the original has not ended now', async () => {
    await board.publish('Parcel', { name: 'one' }, { correlation: 'parcel-4' });
    clock.advance(10_000);
    await board.ended('parcel-4');
    const keyed = () => post('correlations/parcel-4').set('X-Idempotency-Key', 'once');
    const first = await keyed();
    expect([first.status, first.body]).toMatchObject([200, { origin: 'parcel-4', mode: 'full', published: 1 }]);
    // The process has stored the replay, and stops before it stores the answer.
    const lost = { response: null, pieces: null, owner: 'gone', lease_until: 0 };
    await board.app.app
      .get(UnitOfWork, { strict: false })
      .run((tx) => tx.db.updateTable('idempotency_keys').set(lost).where('key', '=', 'once').execute());
    await board.publish('Parcel', { name: 'two' }, { correlation: 'parcel-4' });
    await refused('correlations/parcel-4', 409, expect.stringContaining('has not ended') as string);
    const again = await keyed();
    expect([again.status, again.body]).toEqual([200, first.body]);
    clock.advance(10_000);
    await board.ended('parcel-4');
  });

  test('of another original does not get the answer of the first one with the same key', async () => {
    const notes = ['note-1', 'note-2'];
    for (const id of notes) await board.publishSync('Note', { text: id }, { correlation: id });
    const keyed = async (path: string): Promise<[Partial<ReplayBody>, string | undefined]> => {
      const { body, headers } = await post(path).set('X-Idempotency-Key', 'nightly').expect(200);
      return [body as ReplayBody, headers['x-idempotency-replayed']];
    };
    const ofArtifact = `artifacts/${(await board.artifacts('note-1'))[0]!.id}`;
    const paths = [...notes.map((id) => `correlations/${id}`), ofArtifact];
    const begun = [];
    for (const path of paths) begun.push(await keyed(path));
    expect(begun).toMatchObject(['note-1', 'note-2', 'note-1'].map((origin) => [{ origin }, undefined]));
    expect(new Set(begun.map(([{ correlation_id }]) => correlation_id)).size).toBe(3);
    for (const [at, path] of paths.entries()) expect(await keyed(path)).toEqual([begun[at]![0], 'true']);
  });

  test('is refused with the reason', async () => {
    await refused('correlations/order-1', 400, 'mode: must be one of full, recorded, shadow', {});
    await refused('correlations/order-1', 400, 'mode: must be one of full, recorded, shadow', { mode: 'half' });
    await refused('correlations/unknown-1', 404, 'Correlation not found: unknown-1; retention may have deleted it');
    await refused('artifacts/42', 400, 'artifact_id: must be a UUID (got "42")');
    const line = (await board.artifacts('order-1', { type: 'Line' }))[0]!;
    await refused(
      `artifacts/${line.id}`,
      409,
      `Artifact ${line.id} was published by splitter; replay its correlation order-1, or an artifact of a client`,
    );
    await board.publish('Parcel', { name: 'waits' }, { correlation: 'parcel-3' });
    await refused(
      'correlations/parcel-3',
      409,
      'Correlation parcel-3 has not ended; wait for its end, or cancel it, and replay it then',
    );
  });
});
