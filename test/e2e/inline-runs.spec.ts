import { SseReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { Board, tally } from './board.js';

const agent = (consumes: string, publishes: string, engine: string, more = ''): string =>
  `{ consumes: [{ types: [${consumes}] }], publishes: [{ type: ${publishes} }], engine: ${engine}${more} }`;

const ADD_ONE = `{ kind: expression, expression: '{"n": payload.n + 1.0}' }`;
const pure = (module: string): string => `{ kind: function, module: ./${module}.js, pure: true }`;

const CONFIG = `
agents:
  one: ${agent('A', 'B', ADD_ONE)}
  two: ${agent('B', 'C', pure('two'))}
  three: ${agent('C', 'D', ADD_ONE)}
  reader: ${agent('Page', 'Read', pure('reader'), ', concurrency: 2')}
  twice: ${agent('Number', 'Half', `{ kind: expression, expression: '{"n": 1.0 / payload.n, "list": [1][int(payload.n)]}' }`, ', retry: { attempts: 1 }')}
  looping: { consumes: [{ types: [Loop], allow_self: true }], publishes: [{ type: Loop }], engine: ${ADD_ONE} }
  later: { consumes: [{ types: [A2] }], publishes: [{ type: B2, visibility: { kind: After, ttl: PT0.05S } }], engine: ${ADD_ONE} }
  outside: ${agent('Asked', 'Answered', `{ kind: function, module: ./outside.js }`)}
  taker: ${agent('Shared', 'Taken', pure('two'))}
  taker2: ${agent('Shared', 'Taken', pure('two'))}
  finder: ${agent('Sought', 'Found', pure('finder'))}
  many: ${agent('Whole', 'Part', pure('many'))}
  spread: ${agent('Spread', 'Piece', `{ kind: function, module: ./spread.js }`)}
  piecer: ${agent('Piece', 'Pieced', ADD_ONE)}
  behind: ${agent('Answered', 'Noted', ADD_ONE)}
`;

const FILES = {
  'two.js': `export default async ([{ payload }]) => { payload.n += 1; return payload; };`,
  // It answers when the test lets it.
  'reader.js': `
    globalThis.reads = { count: 0, running: 0, most: 0, aborted: 0, ends: [] };
    export default async ([{ payload }], { signal }) => {
      const { reads } = globalThis;
      reads.count += 1;
      reads.running += 1;
      reads.most = Math.max(reads.most, reads.running);
      signal.addEventListener('abort', () => (reads.aborted += 1));
      await new Promise((resolve) => reads.ends.push(resolve));
      reads.running -= 1;
      return payload;
    };`,
  'many.js': `
    globalThis.calls = 0;
    export default async () => { globalThis.calls += 1; return [1, 2, 3, 4, 5].map((n) => ({ n })); };`,
  'spread.js': `export default async () => Array.from({ length: 30 }, (_, n) => ({ n }));`,
  'finder.js': `
    export default async ([{ correlation_id }], { blackboard }) => ({ n: (await blackboard.list({ correlation_id })).length });`,
  'outside.js': `export default async ([{ payload }]) => payload;`,
};

interface Reads {
  count: number;
  most: number;
  aborted: number;
  ends: (() => void)[];
}

interface WireExecution {
  id: string;
  agent: string;
  state: string;
  attempt: number;
}

// Uses the whole app over HTTP on a database, with agents from a configuration file.
describe('agents that only compute', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES, settings: { maxExecutionsPerCorrelation: 30 } });
  });

  afterAll(() => board.close());

  const executionsOf = async (correlation: string): Promise<WireExecution[]> =>
    (
      (await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200)).body as {
        items: WireExecution[];
      }
    ).items;

  const CHAIN = [
    ['A', 0, 'external'],
    ['B', 1, 'one'],
    ['C', 2, 'two'],
    ['D', 3, 'three'],
  ];

  const chainOf = async (correlation: string): Promise<unknown[]> =>
    (await board.artifacts(correlation)).map(({ type, payload, produced_by }) => [type, payload.n, produced_by]);

  /** How many transactions have ended executions of the correlation. */
  const endsOf = async (correlation: string): Promise<number> => {
    const [stored] = await board.app.database.look((rows) =>
      rows<{ ends: number }>(
        `select count(distinct ended_at) as ends from executions where correlation_id = '${correlation}'`,
      ),
    );
    return Number(stored!.ends);
  };

  it('end in the transaction of the publish for which a client waits', async () => {
    await board.publishSync('A', { n: 0 }, { correlation: 'awaited' });
    expect(await chainOf('awaited')).toEqual(CHAIN);
    const executions = await executionsOf('awaited');
    expect(executions.map(({ agent, state, attempt }) => [agent, state, attempt]).sort()).toEqual([
      ['one', 'completed', 1],
      ['three', 'completed', 1],
      ['two', 'completed', 1],
    ]);
    const stored = await board.app.database.look((rows) =>
      rows<{ created_at: number; ended_at: number }>(
        `select created_at, ended_at from executions where correlation_id = 'awaited'`,
      ),
    );
    expect(stored.filter(({ created_at, ended_at }) => Number(created_at) === Number(ended_at))).toHaveLength(3);
  });

  it('run after the answer to a client that does not wait', async () => {
    const correlation = await board.publish('A', { n: 0 });
    await board.ended(correlation);
    expect(await chainOf(correlation)).toEqual(CHAIN);
    // The second and the third one end together with the first.
    expect(await endsOf(correlation)).toBe(1);
  });

  it('have answered when a run or a direct run is answered', async () => {
    const run = { agent_name: 'one', inputs: { n: 0 } };
    const { body } = await board.http.post('/run/flock').send(run).expect(200);
    expect(body).toMatchObject({ status: 'completed', result: { n: 3 } });
    const inBackground = await board.http.post('/run/flock').send({ ...run, async_run: true });
    expect(['starting', 'running']).toContain((inBackground.body as { status: string }).status);
    const direct = { inputs: [{ type: 'A', payload: { n: 0 } }] };
    const answer = await board.http.post('/api/v1/agents/one/run').send(direct).expect(200);
    expect((answer.body as { artifacts: { type: string; payload: object }[] }).artifacts).toMatchObject([
      { type: 'B', payload: { n: 1 } },
    ]);
  });

  it('end in the transaction that ends the agent before them', async () => {
    const { artifacts, correlation_id: correlation } = await board.publishSync('Asked', { n: 1 });
    expect(artifacts.map(({ type }) => type)).toEqual(['Answered', 'Noted']);
    expect(await endsOf(correlation)).toBe(1);
  });

  it('end in the transaction of the agent before them only if they are few', async () => {
    const { artifacts } = await board.publishSync('Spread', {});
    expect(tally(artifacts.map(({ type }) => type))).toEqual({ Piece: 30, Pieced: 30 });
    const [together] = await board.app.database.look((rows) =>
      rows<{ count: number }>(
        `select count(*) as count from executions pieced join executions before on before.ended_at = pieced.ended_at
           where before.agent = 'spread' and pieced.agent = 'piecer'`,
      ),
    );
    expect(Number(together!.count)).toBeLessThanOrEqual(16);
  });

  it('wait while they are paused, and so do those behind them', async () => {
    await board.http.post('/api/v1/agents/two/pause').expect(200);
    const correlation = await board.publish('A', { n: 0 });
    await eventually('the first one has ended', async () => (await board.status(correlation)).artifact_count === 2);
    await board.publishSync('Asked', { n: 1 });
    expect(await board.status(correlation)).toMatchObject({ state: 'active', artifact_count: 2 });
    await board.http.post('/api/v1/agents/two/resume').expect(200);
    await board.ended(correlation);
    expect(await board.types(correlation)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('are asked again, and fail like other agents, if they cannot answer', async () => {
    const { correlation_id: correlation } = await board.publishSync('Number', { n: 7 });
    expect(await board.status(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(tally(await board.types(correlation))).toEqual({ Number: 1, WorkflowError: 1 });
    const [execution] = await executionsOf(correlation);
    expect(execution).toMatchObject({ agent: 'twice', state: 'failed', attempt: 1 });
  });

  it('stop at the limit of executions of a correlation', async () => {
    const { correlation_id: correlation } = await board.publishSync('Loop', { n: 0 });
    expect(tally(await board.types(correlation))).toEqual({ Loop: 31, WorkflowError: 1 });
    expect(await executionsOf(correlation)).toHaveLength(30);
  });

  it('publish artifacts that are hidden for a time', async () => {
    const { artifacts, completed } = await board.publishSync('A2', { n: 0 });
    expect([completed, artifacts.map(({ type }) => type)]).toEqual([true, ['B2']]);
  });

  it('run within their concurrency, and only once each, after the first that has not answered immediately', async () => {
    const { reads } = globalThis as unknown as { reads: Reads };
    const read = async (count: number): Promise<void> => {
      let isRead = false;
      const answers = Promise.all(Array.from({ length: count }, (_, n) => board.publishSync('Page', { n })));
      const ended = answers.finally(() => (isRead = true));
      await eventually('one has not answered immediately', () => reads.aborted === 1);
      await eventually('all pages are read', () => {
        reads.ends.splice(0).forEach((end) => end());
        return isRead;
      });
      expect((await ended).map(({ artifacts }) => artifacts.map(({ type }) => type))).toEqual(
        Array.from({ length: count }, () => ['Read']),
      );
    };
    await read(6);
    // The first one was asked twice: its first answer came too late.
    expect(reads).toMatchObject({ count: 7, aborted: 1 });
    expect(reads.most).toBeLessThanOrEqual(3);
    await read(1);
    expect(reads.count).toBe(8);
  });

  it('are called seldom for answers that cannot be stored so', async () => {
    const TIMES = 40;
    for (let n = 0; n < TIMES; n += 1)
      expect((await board.publishSync('Whole', { n })).artifacts.map(({ type }) => type)).toEqual(
        Array.from({ length: 5 }, () => 'Part'),
      );
    const { calls } = globalThis as unknown as { calls: number };
    expect(calls - TIMES).toBeGreaterThan(0);
    expect(calls - TIMES).toBeLessThan(TIMES / 5);
  });

  it('are shown on streams in the order of causes', async () => {
    const reader = await SseReader.open(board.app.url, { correlation_id: 'shown', live: true });
    await board.publishSync('A', { n: 0 }, { correlation: 'shown' });
    await eventually('the end is shown', () =>
      reader.liveEvents.some(({ event_type }) => event_type === 'correlation_settled'),
    );
    reader.close();
    const shown = reader.liveEvents.map((event) => [event.event_type, (event as { agent?: string }).agent ?? '']);
    expect(shown.filter(([type]) => type !== 'artifact_consumed')).toEqual([
      ...['one', 'two', 'three'].flatMap((name) => [
        ['execution_started', name],
        ['execution_succeeded', name],
      ]),
      ['correlation_settled', ''],
    ]);
  });

  it('store nothing if the publish is refused', async () => {
    const ended = await board.http.post('/run/flock').send({ agent_name: 'one', inputs: { n: 0 } });
    const { run_id: correlation } = ended.body as { run_id: string };
    const refused = board.http.post('/api/v1/artifacts').set('X-Correlation-ID', correlation);
    await refused.send({ type: 'A', payload: { n: 0 } }).expect(409);
    expect(await board.types(correlation)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('find their inputs if they read the blackboard, although they must not', async () => {
    const { artifacts } = await board.publishSync('Sought', {});
    expect(artifacts.map(({ type, payload }) => [type, payload.n])).toEqual([['Found', 1]]);
  });

  it('get copies of their inputs', async () => {
    const { artifacts } = await board.publishSync('Shared', { n: 0 });
    expect(artifacts.map(({ type, payload }) => [type, payload.n])).toEqual([
      ['Taken', 1],
      ['Taken', 1],
    ]);
  });
});
