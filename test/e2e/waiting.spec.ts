import type { Response } from 'supertest';

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  patient:
    consumes: [{ types: [Endless] }]
    publishes: [{ type: Never }]
    timeout: 1h
    engine: { kind: function, module: ./patient.js }
  failing:
    consumes: [{ types: [Doomed] }]
    publishes: [{ type: Never }]
    retry: { attempts: 9, delay: 10s, max_delay: 25s }
    engine: { kind: function, module: ./failing.js }
  hurried:
    consumes: [{ types: [Left, Right], join: { within: 10m } }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{}' }
  hidden:
    consumes: [{ types: [Secret] }]
    publishes: [{ type: Revealed }]
    engine: { kind: expression, expression: '{}' }
`;

const FILES = {
  'patient.js': `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`,
  'failing.js': `globalThis.attempts = 0; export default async () => { globalThis.attempts += 1; throw new Error('again'); };`,
};

const shared = globalThis as unknown as { attempts: number };

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('time', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    // A grace period would wait for the clock, which no longer moves.
    board = await Board.start(CONFIG, { clock, files: FILES, settings: { shutdownGraceMs: 0 } });
  });

  afterAll(() => board.close());

  /** Waits until another correlation has finished, by which time the app has done its earlier work. */
  const afterAFence = async (): Promise<void> => void (await board.ended(await board.publish('Revealed', {})));

  async function waitsFor(body: object, ms: number): Promise<Response> {
    const correlation = `waits-${ms}-${JSON.stringify(body).length}`;
    let answer: Response | undefined;
    const asked = board.http
      .post('/api/v1/artifacts/sync')
      .set('X-Correlation-ID', correlation)
      .send(body)
      .then((response) => (answer = response));
    await eventually('it is published', async () => (await board.status(correlation)).state === 'active');
    // The waiter is set up after the commit that makes the artifact visible.
    await afterAFence();
    clock.advance(ms - 1);
    await afterAFence();
    expect(answer).toBeUndefined();
    clock.advance(1);
    return asked;
  }

  it.each([
    ['30 s without a timeout', { type: 'Endless' }, 30_000],
    ['as long as it says', { type: 'Endless', timeout: 300 }, 300_000],
    ['fractions of a second too', { type: 'Endless', timeout: 1.5 }, 1_500],
    ['for a half-filled join with a time limit', { type: 'Left', timeout: 60 }, 60_000],
    ['for a hidden artifact', { type: 'Secret', timeout: 60, visibility: { kind: 'After', ttl: 'PT1H' } }, 60_000],
  ])('a synchronous publish waits %s', async (_name, body, ms) => {
    const { status, body: answer } = await waitsFor(body, ms);
    expect([status, answer]).toEqual([
      200,
      { correlation_id: expect.any(String) as string, artifacts: [], completed: false, duration_ms: ms },
    ]);
  });

  it('of a correlation lasts from its first artifact to its latest activity', async () => {
    const times = async (): Promise<object> => {
      const { body } = await board.http.get('/api/v1/correlations/timed/status').expect(200);
      const { started_at, last_activity_at } = body as Record<string, string>;
      return { started_at, last_activity_at };
    };
    const started = new Date(clock.now()).toISOString();
    await board.publish('Revealed', {}, { correlation: 'timed' });
    expect(await times()).toEqual({ started_at: started, last_activity_at: started });
    clock.advance(90_500);
    await board.publishSync('Secret', {}, { correlation: 'timed' });
    expect(await times()).toEqual({ started_at: started, last_activity_at: new Date(clock.now()).toISOString() });
  });

  it('between attempts doubles up to its maximum, give or take 20 %', async () => {
    const correlation = await board.publish('Doomed', {});
    for (const [made, delay] of [10_000, 20_000, 25_000, 25_000].entries()) {
      await eventually(
        `attempt ${made + 1} has failed`,
        () =>
          board.app.logLines.filter((line) => line.correlation_id === correlation && line.outcome === 'retried')
            .length ===
          made + 1,
      );
      clock.advance(delay * 0.8 - 1);
      await afterAFence();
      expect(shared.attempts).toBe(made + 1);
      clock.advance(delay * 0.4 + 1);
      await eventually(`attempt ${made + 2} runs`, () => shared.attempts === made + 2);
    }
  });
});
