// Many executions, and many keys, that wait for a limit. Uses the whole app over HTTP on a database. The clock stands still
// and nothing is polled.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { Board } from './board.js';
import { Outside } from './outside.js';
import { Replicas, withoutPolling, WORKER } from './replica-boards.js';

/** More than two pages of keys, and more than two parts of those that wait for one key. */
const COUNT = 1_200;
const AT_ONCE = 40;
const PART = 400;
const HOUR = 3_600_000;
const CONFIG = `
limits:
  pool: { concurrency: 1 }
  each: { rate: 1/1h, key: payload.n }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], engine: { kind: external } }
  caller: { consumes: [{ types: [Call] }], limits: [each], engine: { kind: expression, expression: '{}' }, publishes: [{ type: Called }] }
`;

describe('many that wait for limits', () => {
  let replicas: Replicas;
  let clock: ManualClock;
  let board: Board;

  beforeEach(async () => {
    replicas = new Replicas();
    clock = new ManualClock();
    board = await start();
  });
  afterEach(() => replicas.close());

  const start = async (): Promise<Board> =>
    withoutPolling(await replicas.start(CONFIG, { role: WORKER, clock, settings: { leaseMs: 100 * HOUR } }));

  const publish = async (type: string): Promise<void> => {
    for (let sent = 0; sent < COUNT; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => board.publish(type, { n: sent + n })));
  };

  const waiting = async (limit: string): Promise<number> =>
    ((await board.http.get(`/api/v1/limits/${limit}`).expect(200)).body as { waiting: number }).waiting;

  const completed = async (): Promise<number> =>
    (await board.app.database.rows(`select id from executions where state = 'completed'`)).length;

  it('go in parts after a limit was raised', async () => {
    await publish('Task');
    const claim = () => new Outside(board.http).claim({ agents: ['person'], max: 100 });
    expect(await claim()).toHaveLength(1);
    let left = COUNT - 1;
    await eventually('all others wait for the limit', async () => {
      expect(await claim()).toEqual([]);
      return (await waiting('pool')) === left;
    });
    await board.http.put('/api/v1/limits/pool').send({ concurrency: 100_000 }).expect(200);
    while (left > 0) {
      const next = Math.max(left - PART, 0);
      await eventually('a part has gone', async () => (await waiting('pool')) <= next);
      for (let read = 0; read < 20; read += 1) expect(await waiting('pool')).toBe(next);
      left = next;
      clock.advance(1_000);
    }
  });

  it('go immediately, whatever their keys, when another process has been stopped that knew when they may go', async () => {
    await publish('Call');
    await eventually('the first ones have run', async () => (await completed()) === COUNT);
    await publish('Call');
    await eventually('the others wait', async () => (await waiting('each')) === COUNT);
    await replicas.stop();
    clock.advance(2 * HOUR);
    board = await start();
    await eventually('all have run', async () => (await completed()) === 2 * COUNT);
  });
});
