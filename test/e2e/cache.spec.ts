// Agents with `cache`. Uses the application over HTTP on a database. The clock is faked.
import { CleanedBoard } from '../retention/cleaned-board.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { Receiver } from '../support/receiver.js';
import { Board } from './board.js';

const HOUR_MS = 3_600_000;

const configuration = (remote: string): string => `
agents:
  counter: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], cache: { for: 1h }, engine: { kind: function, module: ./count.js } }
  keyed: { consumes: [{ types: [Keyed] }], publishes: [{ type: Reply }], cache: { for: 1h, key: payload.text }, engine: { kind: function, module: ./count.js } }
  joiner: { consumes: [{ types: [Left, Right] }], publishes: [{ type: Reply }], cache: { for: 1h }, engine: { kind: function, module: ./count.js } }
  unlucky: { consumes: [{ types: [Doomed] }], publishes: [{ type: Reply }], cache: { for: 1h }, retry: { attempts: 2, delay: 0s }, engine: { kind: function, module: ./fail-once.js } }
  silent: { consumes: [{ types: [Quiet] }], cache: { for: 1h }, engine: { kind: function, module: ./silent.js } }
  remote: { consumes: [{ types: [Call] }], publishes: [{ type: Reply }, { type: Other }], cache: { for: 1h }, engine: { kind: http, url: "${remote}" } }
`;

const FILES = {
  'count.js': `let calls = 0;
export default async ([{ payload }]) => ({ type: 'Reply', payload: { to: payload, call: ++calls } });`,
  'fail-once.js': `let calls = 0;
export default async () => { if (++calls === 1) throw new Error('not yet'); return { type: 'Reply', payload: { call: calls } }; };`,
  'silent.js': `globalThis.silentCalls = 0;
export default async () => { globalThis.silentCalls += 1; return null; };`,
};

interface Execution {
  id: string;
  state: string;
  cached_from?: string;
  error_type: string | null;
  error_message: string | null;
}

describe('cache', () => {
  const clock = new ManualClock();
  let remote: Receiver;
  let board: Board;
  let cleaned: CleanedBoard;

  beforeAll(async () => {
    remote = await Receiver.start();
    const visibility = { kind: 'Private', agents: ['counter'] };
    const outputs = [{ type: 'Reply', payload: { text: 'here' }, tags: ['urgent'], visibility }];
    remote.on('/now', (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ outputs })),
    );
    board = await Board.start(configuration(remote.url('/now')), { clock, files: FILES });
    cleaned = new CleanedBoard(board, clock);
  });
  afterAll(async () => {
    await board?.close();
    await remote?.close();
  });

  const correlationOf = async (execution: string): Promise<string> =>
    ((await board.http.get(`/api/v1/executions/${execution}`).expect(200)).body as { correlation_id: string })
      .correlation_id;

  const executions = async (correlation_id: string): Promise<Execution[]> =>
    ((await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200)).body as { items: Execution[] })
      .items;

  /** Publishes, waits for the end, and returns the one execution, and the payloads of its outputs. */
  async function ask(
    type: string,
    payload: object,
    parts: object = {},
  ): Promise<{ one: Execution; replies: object[] }> {
    const correlation = await board.publish(type, payload, parts);
    await board.ended(correlation);
    const replies = (await board.artifacts(correlation, { type: 'Reply' })).map((reply) => reply.payload);
    return { one: (await executions(correlation))[0]!, replies };
  }

  it('gives the answer of an earlier execution with equal inputs, and says of which', async () => {
    const first = await ask('Question', { text: 'hello' }, { tags: ['a'] });
    expect(first.one).toMatchObject({ state: 'completed' });
    expect(first.one).not.toHaveProperty('cached_from');
    const correlation = await board.publish('Question', { text: 'hello' });
    await board.ended(correlation);
    const [question, reply] = await board.artifacts(correlation);
    expect(reply).toMatchObject({ type: 'Reply', payload: first.replies[0], produced_by: 'counter' });
    const [second] = await executions(correlation);
    expect(second).toMatchObject({ state: 'completed', cached_from: first.one.id });
    const { body: trace } = await board.http.get(`/api/v1/correlations/${correlation}/trace`).expect(200);
    expect((trace as { executions: object[] }).executions).toMatchObject([{ cached_from: first.one.id }]);
    const { body: explained } = await board.http.get(`/api/v1/artifacts/${question!.id}/explain`).expect(200);
    expect(JSON.stringify(explained)).toContain(`with the answer of the execution ${first.one.id}, by cache`);
    // The answer is that of the first, also for the third.
    expect((await ask('Question', { text: 'hello' })).one.cached_from).toBe(first.one.id);
    const other = await ask('Question', { text: 'goodbye' });
    expect(other.one).not.toHaveProperty('cached_from');
    expect(other.replies).not.toEqual(first.replies);
  });

  it('ends when its time is over, and begins again with the next answer', async () => {
    const first = await ask('Question', { text: 'for an hour' });
    clock.advance(HOUR_MS - 1);
    expect((await ask('Question', { text: 'for an hour' })).one.cached_from).toBe(first.one.id);
    clock.advance(1);
    const next = await ask('Question', { text: 'for an hour' });
    expect(next.one).not.toHaveProperty('cached_from');
    expect(next.replies).not.toEqual(first.replies);
    expect((await ask('Question', { text: 'for an hour' })).one.cached_from).toBe(next.one.id);
  });

  it('compares what the key gives, and nothing else', async () => {
    const first = await ask('Keyed', { text: 'same', n: 1 });
    const second = await ask('Keyed', { n: 2, text: 'same' });
    expect([second.one.cached_from, second.replies]).toEqual([first.one.id, first.replies]);
    // Equal inputs of another agent have other answers.
    expect((await ask('Question', { text: 'same', n: 1 })).one).not.toHaveProperty('cached_from');
  });

  it('compares the fields of payloads in their order', async () => {
    const first = await ask('Question', { text: 'ordered', n: 1 });
    expect((await ask('Question', { n: 1, text: 'ordered' })).one).not.toHaveProperty('cached_from');
    expect((await ask('Question', { text: 'ordered', n: 1 })).one.cached_from).toBe(first.one.id);
  });

  it.each([
    ['is null', { text: null }, 'the key of cache is null'],
    ['fails', {}, expect.stringMatching(/^the key of cache fails: /) as string],
  ])('fails an execution whose key %s, in its first attempt', async (_, payload, error_message) => {
    const { one, replies } = await ask('Keyed', payload);
    expect(one).toMatchObject({ state: 'failed', attempt: 1, error_type: 'cache_key', error_message });
    expect(replies).toEqual([]);
  });

  it('takes all inputs of a join into account', async () => {
    const ofJoin = async (left: number, right: number): Promise<Execution> => {
      const correlation = await board.publish('Left', { n: left });
      await board.publish('Right', { n: right }, { correlation });
      await board.ended(correlation);
      return (await executions(correlation))[0]!;
    };
    const first = await ofJoin(1, 2);
    expect((await ofJoin(1, 2)).cached_from).toBe(first.id);
    expect(await ofJoin(1, 3)).not.toHaveProperty('cached_from');
  });

  it('keeps no failure, and keeps that there was no output', async () => {
    const failed = await ask('Doomed', {});
    expect(failed.one).toMatchObject({ state: 'completed', attempt: 2 });
    expect((await ask('Doomed', {})).one.cached_from).toBe(failed.one.id);
    const first = await ask('Quiet', {});
    const second = await ask('Quiet', {});
    expect(second).toMatchObject({ one: { state: 'completed', cached_from: first.one.id }, replies: [] });
    expect((globalThis as unknown as { silentCalls: number }).silentCalls).toBe(1);
  });

  it('gives the outputs that a remote agent lists with their tags and visibilities', async () => {
    const asked: object[] = [];
    for (const n of [1, 2]) {
      const correlation = `call-${n}`;
      await board.publish('Call', { text: 'now' }, { correlation });
      await board.ended(correlation);
      const [, reply] = await board.artifacts(correlation);
      const { type, payload, tags, visibility, produced_by } = reply as unknown as Record<string, unknown>;
      asked.push({ type, payload, tags, visibility, produced_by });
    }
    expect(asked[0]).toMatchObject({ payload: { text: 'here' }, tags: ['urgent'], visibility: { kind: 'Private' } });
    expect(asked[1]).toEqual(asked[0]);
    expect(remote.at('/now')).toHaveLength(1);
  });

  it('gives a replay nothing, and takes nothing of it', async () => {
    const first = await ask('Question', { text: 'again' });
    const { body } = await board.http
      .post(`/api/v1/correlations/${await correlationOf(first.one.id)}/replay`)
      .send({ mode: 'full' })
      .expect(200);
    const { correlation_id } = body as { correlation_id: string };
    await board.ended(correlation_id);
    const [replayed] = await executions(correlation_id);
    expect(replayed).toMatchObject({ state: 'completed' });
    expect(replayed).not.toHaveProperty('cached_from');
    expect((await ask('Question', { text: 'again' })).one.cached_from).toBe(first.one.id);
  });

  it('keeps nothing for longer than its time: expired answers are deleted', async () => {
    await ask('Question', { text: 'short' });
    expect(await cleaned.count('cached_answers')).toBeGreaterThan(0);
    await cleaned.cleanUpAfter(1);
    expect(await cleaned.count('cached_answers')).toBe(0);
  });
});

describe('after a restart', () => {
  const folder = new ConfigurationFolder();
  afterAll(() => folder.remove());

  const cachedFrom = async (labels: string): Promise<{ id: string; cached_from?: string }> => {
    const config = `agents: { upper: { labels: [${labels}], consumes: [{ types: [Text] }], publishes: [{ type: Upper }], cache: { for: 1h }, engine: { kind: expression, expression: payload } } }`;
    const board = await Board.start(config, { folder: folder.path });
    try {
      const { correlation_id } = await board.publishSync('Text', { text: 'a' });
      const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
      return (body as { items: { id: string; cached_from?: string }[] }).items[0]!;
    } finally {
      await board.close();
    }
  };

  it('answers are still taken, but none of another definition', async () => {
    const first = await cachedFrom('old');
    expect((await cachedFrom('old')).cached_from).toBe(first.id);
    const changed = await cachedFrom('new');
    expect(changed).not.toHaveProperty('cached_from');
    expect((await cachedFrom('new')).cached_from).toBe(changed.id);
  });
});
