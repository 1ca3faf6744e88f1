import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

interface Limit {
  name: string;
  concurrency: number | null;
  file: object | null;
}

const withLimits = (limits: string, agents = ''): string => `
limits: ${limits}
agents:${agents}
  caller: { consumes: [{ types: [Call] }], limits: [calls], publishes: [{ type: Called }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

/** Uses the whole app over HTTP, stopped and started again on one database with another configuration. */
describe('the values that a client has set for a limit', () => {
  let folder: ConfigurationFolder;
  let board: Board;

  const start = async (limits: string, { clock, agents }: { clock?: ManualClock; agents?: string } = {}) => {
    board = await Board.start(withLimits(limits, agents), {
      folder: folder.path,
      settings: { shutdownGraceMs: 0 },
      ...(clock && { clock }),
    });
  };
  const restart = async (limits: string, parts?: Parameters<typeof start>[1]): Promise<void> => {
    await board.close();
    await start(limits, parts);
  };
  const put = (name: string, body: object) => board.http.put(`/api/v1/limits/${name}`).send(body);
  const logOf = (limit: string): Record<string, unknown>[] =>
    board.app.logLines.filter((line) => line['limit'] === limit);

  const waits = (correlation: string, text: string): Promise<void> =>
    eventually(`${correlation} waits for ${text}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return (body as { items: { limit: string | null }[] }).items[0]?.limit?.endsWith(text) === true;
    });

  beforeEach(() => {
    folder = new ConfigurationFolder();
  });
  afterEach(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  it('stay visible when the file no longer has the limit, until they are deleted', async () => {
    const listed = async (): Promise<string[]> =>
      ((await board.http.get('/api/v1/limits').expect(200)).body as { items: Limit[] }).items.map(({ name }) => name);
    const LIMITS = '{ calls: { concurrency: 1 }, gone: { concurrency: 5 }, also: { rate: 1/s } }';
    await start(LIMITS);
    await put('gone', { concurrency: 3 }).expect(200);
    await put('also', { rate: '5/s', burst: 2 }).expect(200);
    await restart('{ calls: { concurrency: 1 } }');
    expect(await listed()).toEqual(['calls', 'also', 'gone']);
    expect((await board.http.get('/api/v1/limits/gone').expect(200)).body).toEqual({
      ...{ name: 'gone', concurrency: 3, rate: null, burst: null, units: null, hold: false },
      set_at: expect.any(String) as string,
      ...{ file: null, agents: [], running: 0, units_used: null, waiting: 0, longest: null },
    });
    expect((await board.http.get('/api/v1/limits/also').expect(200)).body).toMatchObject({ rate: '5/s', burst: 2 });
    expect((await board.http.get('/api/v1/limits/gone/keys').expect(200)).body).toMatchObject({ items: [] });
    await put('gone', { concurrency: 4 }).expect(409, {
      detail: 'The configuration file has no limit gone; add it, or delete its values',
    });
    expect(logOf('gone')).toMatchObject([
      {
        level: 40,
        set: { concurrency: 3 },
        file: null,
        msg: 'a client has set values for a limit that the configuration file no longer has, and they stay until DELETE /api/v1/limits/{limit_name}',
      },
    ]);

    expect((await board.http.delete('/api/v1/limits/gone').expect(200)).body).toMatchObject({
      concurrency: null,
      set_at: null,
      file: null,
    });
    await board.http.get('/api/v1/limits/gone').expect(404, { detail: 'Limit not found: gone' });
    await board.http.delete('/api/v1/limits/gone').expect(404);
    expect(await listed()).toEqual(['calls', 'also']);

    // Values that are not deleted hold again when the limit comes back.
    await restart(LIMITS);
    expect(await listed()).toEqual(['calls', 'gone', 'also']);
    expect((await board.http.get('/api/v1/limits/gone').expect(200)).body).toMatchObject({ concurrency: 5 });
    expect((await board.http.get('/api/v1/limits/also').expect(200)).body).toMatchObject({ rate: '5/s', burst: 2 });
  });

  it('are an error in the log of a start if the units of the file cost more than their burst, so that nothing can start', async () => {
    const error = async (): Promise<unknown> => {
      const correlation = await board.publish('Call', {});
      const { state } = await board.ended(correlation);
      return state === 'failed'
        ? (await board.artifacts(correlation)).find(({ type }) => type === 'WorkflowError')!.payload.error_message
        : null;
    };
    await start('{ calls: { rate: 100/s, units: "4" } }');
    await put('calls', { rate: '100/s', burst: 4 }).expect(200);
    expect(await error()).toBeNull();
    await restart('{ calls: { rate: 100/s, units: "5" } }');
    expect(logOf('calls')).toMatchObject([
      {
        level: 50,
        set: { rate: '100/s', burst: 4 },
        file: { rate: '100/s', burst: 100 },
        units: '5',
        msg: 'a client has set a burst for a limit with which no attempt can start, because each costs more units, so all its executions fail until a larger burst or DELETE /api/v1/limits/{limit_name}',
      },
    ]);
    expect(await error()).toContain('limit calls: it costs 5 units, and its burst is 4');
    await put('calls', { rate: '100/s', burst: 4 }).expect(400, {
      detail: 'burst: each attempt costs more than 4 units, so that none could start; send a larger burst',
    });
    // A PUT without a burst has the count of the rate as its burst.
    await put('calls', { rate: '4/s' }).expect(400);
    await put('calls', { rate: '100/s', burst: 5 }).expect(200);
    expect(await error()).toBeNull();
  });

  it('count what has started before with another rate, and are shut for at most their burst', async () => {
    const clock = new ManualClock();
    const waitsFor = (correlation: string, text: string): Promise<void> =>
      waits(correlation, ` used, 1st of 1, ${text}`);
    const starts = async (...correlations: string[]): Promise<void> => {
      for (const correlation of correlations) await board.publish('Call', {}, { correlation });
      for (const correlation of correlations)
        expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    };
    await start('{ calls: { rate: 1/h, burst: 2 } }', { clock });
    await starts('one', 'two');
    await board.publish('Call', {}, { correlation: 'three' });
    await waitsFor('three', 'next in 3600.0 s');
    await put('calls', { rate: '1/m', burst: 2 }).expect(200);
    await waitsFor('three', 'next in 60.0 s');
    await board.http.delete('/api/v1/limits/calls').expect(200);
    await waitsFor('three', 'next in 3600.0 s');
    await put('calls', { rate: '1/s', burst: 1 }).expect(200);
    await waitsFor('three', 'next in 1.0 s');
    clock.advance(1_000);
    expect(await board.ended('three')).toMatchObject({ state: 'completed' });

    // A thousand units of a millisecond do not shut it for a thousand hours.
    await put('calls', { rate: '1000/s', burst: 1_000 }).expect(200);
    await starts(...Array.from({ length: 5 }, (_, n) => `fast${n}`));
    await put('calls', { rate: '1/h' }).expect(200);
    await board.publish('Call', {}, { correlation: 'slow' });
    await waitsFor('slow', 'next in 3600.0 s');
    // Without a rate, nothing of it is left.
    await put('calls', {}).expect(200);
    expect(await board.ended('slow')).toMatchObject({ state: 'completed' });
    await put('calls', { rate: '1/h' }).expect(200);
    await starts('again');
  });

  it('of a pattern hold for the keys of all names that it matches, also after a restart', async () => {
    const clock = new ManualClock();
    const agent = (name: string, type: string): string =>
      `\n  ${name}: { consumes: [{ types: [${type}] }], limits: [api/${name}], publishes: [{ type: Called }], engine: { kind: expression, expression: '{"n": 1}' } }`;
    const parts = { clock, agents: `${agent('asker', 'Ask')}${agent('teller', 'Tell')}` };
    const limits = "{ calls: { concurrency: 1 }, api/*: { rate: 1/m, key: payload.customer, units: '2', burst: 2 } }";
    const publish = (type: string, customer: string): Promise<string> => board.publish(type, { customer });
    const runs = async (type: string, customer: string): Promise<void> => {
      expect(await board.ended(await publish(type, customer))).toMatchObject({ state: 'completed' });
    };
    await start(limits, parts);
    await runs('Ask', 'x');
    await runs('Tell', 'y');
    const waiting = await publish('Tell', 'x');
    await waits(waiting, 'limit api/*: 2 of 2 used, 1st of 1 for customer x, next in 120.0 s');
    await put('api%2F*', { rate: '1/s', burst: 2 }).expect(200);
    await waits(waiting, 'limit api/*: 2 of 2 used, 1st of 1 for customer x, next in 2.0 s');
    await restart(limits, parts);
    await waits(waiting, ', next in 2.0 s');
    clock.advance(2_000);
    expect(await board.ended(waiting)).toMatchObject({ state: 'completed' });
    await board.http.delete('/api/v1/limits/api%2F*').expect(200);
    await runs('Ask', 'z');
    await waits(await publish('Tell', 'z'), 'limit api/*: 2 of 2 used, 1st of 1 for customer z, next in 120.0 s');
  });
});
