// Executions that wait for one limit while another one has no room for them. Uses the whole app over HTTP on a database. The
// clock is faked.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';

const OPEN_MS = 30_000;
const EXECUTIONS = 400;
const AT_ONCE = 20;
const CONFIG = `
limits:
  gate: { concurrency: 1 }
  pool: { concurrency: 1 }
agents:
  guard: { consumes: [{ types: [Guarded] }], limits: [gate], engine: { kind: external } }
  keeper: { consumes: [{ types: [Kept] }], limits: [pool], engine: { kind: external } }
  passing: { consumes: [{ types: [Passing] }], limits: [gate, pool], engine: { kind: function, module: ./send.js } }
  sender: { consumes: [{ types: [Mail] }], limits: [pool], breaker: { failures: 100%, of: 1, open: 30s }, retry: { attempts: 1 }, engine: { kind: function, module: ./send.js } }
`;
const SEND = `export default async ([{ payload }]) => { if (payload.fails) throw new Error('down'); return null; };`;

describe('executions that wait', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeEach(async () => {
    board = await Board.start(CONFIG, { clock, files: { 'send.js': SEND }, settings: { shutdownGraceMs: 0 } });
    outside = new Outside(board.http);
  });
  afterEach(() => board?.close());

  const hold = async (type: string, agent: string): Promise<Held> => {
    await board.publish(type, {});
    return outside.claimOne({ agents: [agent] });
  };

  const publish = async (type: string): Promise<void> => {
    for (let sent = 0; sent < EXECUTIONS; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => board.publish(type, {})));
  };

  const allWaitFor = (key: string): Promise<void> =>
    eventually(`all wait for ${key}`, async () => {
      const waiting = await board.app.database.rows(`select id from executions where blocked_on = '${key}'`);
      return waiting.length === EXECUTIONS;
    });

  const transactions = async (): Promise<number> => {
    const { text } = await board.http.get('/metrics').expect(200);
    return Number(/^starling_database_transaction_seconds_count(?:\{.*\})? (\d+)$/m.exec(text)![1]);
  };

  const completed = async (agent: string): Promise<number> =>
    (await board.app.database.rows(`select id from executions where agent = '${agent}' and state = 'completed'`))
      .length;

  it('for a breaker begin to wait for a full limit together, and one of them decides when it has room', async () => {
    expect(await board.ended(await board.publish('Mail', { fails: true }))).toMatchObject({ state: 'failed' });
    const kept = await hold('Kept', 'keeper');
    await publish('Mail');
    await allWaitFor('[" breaker of sender",null]');
    const before = await transactions();
    clock.advance(OPEN_MS);
    await allWaitFor('["pool",null]');
    // One after the other, each needs two: it is let go, and a claim stops it.
    expect((await transactions()) - before).toBeLessThan(EXECUTIONS);
    await outside.send(kept, 'complete', { outputs: [] });
    await eventually('some have worked', async () => (await completed('sender')) > 1);
  });

  it('for a limit begin to wait for another one together', async () => {
    const guarded = await hold('Guarded', 'guard');
    const kept = await hold('Kept', 'keeper');
    await publish('Passing');
    await allWaitFor('["gate",null]');
    const before = await transactions();
    await outside.send(guarded, 'complete', { outputs: [] });
    await allWaitFor('["pool",null]');
    expect((await transactions()) - before).toBeLessThan(EXECUTIONS);
    await outside.send(kept, 'complete', { outputs: [] });
    await eventually('some have worked', async () => (await completed('passing')) > 1);
  });
});
