import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const withRate = (calls: string): string => `
limits: { calls: { ${calls} } }
agents:
  caller: { consumes: [{ types: [Call] }], limits: [calls], publishes: [{ type: Called }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

/** Uses the whole app over HTTP, stopped and started again on one database with another configuration. The clock is faked. */
describe('a limit whose file has another rate after a restart', () => {
  let folder: ConfigurationFolder;
  let clock: ManualClock;
  let board: Board;

  const start = async (calls: string): Promise<void> => {
    board = await Board.start(withRate(calls), { folder: folder.path, settings: { shutdownGraceMs: 0 }, clock });
  };
  const restart = async (calls: string): Promise<void> => {
    await board.close();
    await start(calls);
  };
  const starts = async (...correlations: string[]): Promise<void> => {
    for (const correlation of correlations) await board.publish('Call', {}, { correlation });
    for (const correlation of correlations)
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
  };
  const waitsFor = (correlation: string, text: string): Promise<void> =>
    eventually(`${correlation} waits for ${text}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return (
        (body as { items: { limit: string | null }[] }).items[0]?.limit?.endsWith(` used, 1st of 1, ${text}`) === true
      );
    });

  beforeEach(() => {
    folder = new ConfigurationFolder();
    clock = new ManualClock();
  });
  afterEach(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  it('lets start what waits as soon as the faster rate does', async () => {
    await start('rate: 1/h, burst: 2');
    await starts('one', 'two');
    await board.publish('Call', {}, { correlation: 'three' });
    await waitsFor('three', 'next in 3600.0 s');
    await restart('rate: 1/m, burst: 2');
    await waitsFor('three', 'next in 60.0 s');
    await restart('rate: 1000/s, burst: 2');
    await waitsFor('three', 'next in 0.0 s');
    clock.advance(1);
    expect(await board.ended('three')).toMatchObject({ state: 'completed' });
  });

  it('lets start what comes after a faster rate, although nothing waits', async () => {
    await start('rate: 1/h');
    await starts('one');
    await restart('rate: 1000/s');
    await board.publish('Call', {}, { correlation: 'two' });
    await waitsFor('two', 'next in 0.0 s');
    clock.advance(1);
    expect(await board.ended('two')).toMatchObject({ state: 'completed' });
  });

  it('counts what has started at a slower rate, up to its burst', async () => {
    await start('rate: 1000/s, burst: 1000');
    await starts(...Array.from({ length: 5 }, (_, n) => `fast${n}`));
    await restart('rate: 1/h, burst: 7');
    await starts('slow0', 'slow1');
    await board.publish('Call', {}, { correlation: 'slow2' });
    await waitsFor('slow2', 'next in 3600.0 s');
    await restart('rate: 1/d');
    await waitsFor('slow2', 'next in 86400.0 s');
  });

  it('keeps what a client has set', async () => {
    await start('rate: 1/h');
    await board.http.put('/api/v1/limits/calls').send({ rate: '1/m' }).expect(200);
    await starts('one');
    await board.publish('Call', {}, { correlation: 'two' });
    await waitsFor('two', 'next in 60.0 s');
    await restart('rate: 1/s');
    await waitsFor('two', 'next in 60.0 s');
    await board.http.delete('/api/v1/limits/calls').expect(200);
    await waitsFor('two', 'next in 1.0 s');
  });
});
