import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const MINUTE = 60_000;

const CONFIG = `
agents:
  keyed:
    consumes: [{ types: [A, B, C], join: { by: payload.key } }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: '{"from": inputs.map(input, input.correlation_id)}' }
  hurried:
    consumes: [{ types: [P, Q, R], join: { by: payload.key, within: 5m } }]
    publishes: [{ type: Hurried }]
    engine: { kind: expression, expression: '{"from": inputs.map(input, input.correlation_id)}' }
  window:
    consumes: [{ types: [Item], batch: { size: 3, timeout: 30s } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"items": payload.map(item, item.n)}' }
  later:
    consumes: [{ types: [Hold] }]
    publishes: [{ type: Held }]
    engine: { kind: expression, expression: '{}' }
`;

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('cancelling a correlation', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
  });

  afterAll(() => board.close());

  /** Keeps a correlation open: hidden from agents for an hour. */
  const hold = (correlation: string) =>
    board.publish('Hold', {}, { correlation, visibility: { kind: 'After', ttl: 'PT1H' } });
  const cancel = (correlation: string) => board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
  const payloads = async (correlation: string, type: string) =>
    (await board.artifacts(correlation, { type })).map(({ payload }) => payload);

  it('removes its artifacts from groups that wait, and those behind them move up', async () => {
    await hold('k1');
    await board.publish('A', { key: 'x' }, { correlation: 'k1' });
    await board.publish('A', { key: 'x' }, { correlation: 'k2' });
    await board.publish('B', { key: 'x' }, { correlation: 'k3' });
    await cancel('k1');
    await board.publish('C', { key: 'x' }, { correlation: 'k4' });
    await board.ended('k4');
    expect(await payloads('k4', 'Joined')).toEqual([{ from: ['k2', 'k3', 'k4'] }]);
  });

  it('makes the window of a group start at the first remaining artifact, which alone keeps its correlation open', async () => {
    await board.publish('P', { key: 'y' }, { correlation: 'w1' });
    clock.advance(2 * MINUTE);
    await board.publish('P', { key: 'y' }, { correlation: 'w2' });
    await board.publish('Q', { key: 'y' }, { correlation: 'w2' });
    await cancel('w1');
    expect((await board.status('w2')).state).toBe('active');
    clock.advance(4 * MINUTE);
    await board.publish('Q', { key: 'none' }, { correlation: 'w3' });
    expect((await board.status('w2')).state).toBe('active');
    clock.advance(MINUTE + 1_000);
    expect(await board.ended('w2')).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await board.status('w1')).toMatchObject({ state: 'cancelled', error_count: 0 });
  });

  it('makes the window of a group start at its first arrival, even if that was published after a hidden artifact', async () => {
    await board.publish('P', { key: 'h' }, { correlation: 'h1', visibility: { kind: 'After', ttl: 'PT2M' } });
    await board.publish('Hold', {}, { correlation: 'released', visibility: { kind: 'After', ttl: 'PT2M' } });
    await board.publish('Q', { key: 'h' }, { correlation: 'h2' });
    clock.advance(MINUTE);
    await board.publish('Q', { key: 'h' }, { correlation: 'h3' });
    clock.advance(MINUTE);
    await board.ended('released');
    await cancel('h2');
    clock.advance(4 * MINUTE + 1_000);
    expect(await board.ended('h3')).toMatchObject({ state: 'failed', error_count: 1 });
  });

  it('removes its artifacts from a batch window, which continues with the others', async () => {
    await board.publish('Item', { n: 1 }, { correlation: 'b1' });
    await board.publish('Item', { n: 2 }, { correlation: 'b2' });
    await cancel('b1');
    clock.advance(31_000);
    await board.ended('b2');
    expect(await payloads('b2', 'Pack')).toEqual([{ items: [2] }]);
  });

  it('drops artifacts that were to be released later', async () => {
    await hold('r1');
    await cancel('r1');
    clock.advance(61 * MINUTE);
    await hold('r2');
    clock.advance(61 * MINUTE);
    await board.ended('r2');
    expect(await board.types('r2')).toEqual(['Hold', 'Held']);
    expect(await board.types('r1')).toEqual(['Hold']);
  });

  it('answers the requests that wait for it', async () => {
    const waiting = board.publishSync(
      'Hold',
      {},
      { correlation: 's1', visibility: { kind: 'After', ttl: 'PT1H' }, timeout: 300 },
    );
    await eventually('the publish is stored', async () => (await board.status('s1')).state === 'active');
    await cancel('s1');
    expect(await waiting).toMatchObject({ completed: true, artifacts: [] });
  });

  it('that has finished, or is unknown, changes nothing', async () => {
    const done = await board.publish('C', { key: 'z' });
    const before = await board.status(done);
    const ended = await board.http.post(`/api/v1/correlations/${done}/cancel`);
    expect([ended.status, ended.body]).toEqual([
      409,
      { detail: `Correlation ${done} has already ended (completed) and cannot be cancelled` },
    ]);
    expect(await board.status(done)).toEqual(before);
    const unknown = await board.http.post('/api/v1/correlations/nothing/cancel');
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Correlation not found: nothing' }]);
  });
});
