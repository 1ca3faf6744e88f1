// Rules that let executions wait, and the slots of a process. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 50h';
const CONFIG = `
limits:
  pool: { concurrency: 1 }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], engine: { kind: external } }
  limited: { consumes: [{ types: [Limited] }], limits: [pool], ${GATED} }
  broken: { consumes: [{ types: [Broken] }], breaker: { failures: 50%, of: 2, open: 5m }, retry: { attempts: 1 }, ${GATED} }
  turned: { consumes: [{ types: [Turned] }], singleton: { key: "'a'", on_conflict: queue }, retry: { attempts: 2, delay: 1m, max_delay: 1m }, ${GATED} }
  free: { consumes: [{ types: [Free] }], ${GATED} }
`;
const MINUTE = 60_000;

describe('a process that runs one execution at a time', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    // The clock jumps by more than a usual lease.
    const settings = { shutdownGraceMs: 0, leaseMs: 1_000 * 60 * MINUTE, maxConcurrentExecutions: 1 };
    board = await Board.start(CONFIG, { clock, files: { 'gate.js': GATE }, settings });
    outside = new Outside(board.http);
  });
  afterAll(() => board?.close());

  const publish = (type: string, name: string): Promise<string> =>
    board.publish(type, { batch: name, n: 1 }, { correlation: name });

  const waitsFor = (name: string, what: RegExp): Promise<void> =>
    eventually(`${name} waits for ${what}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      return what.test((body as { items: { limit: string | null }[] }).items[0]?.limit ?? '');
    });

  const works = async (name: string, attempt = 1): Promise<void> => {
    await started(name, attempt);
    gatesOf(name).at(-1)!.open();
    expect([name, (await board.ended(name)).state]).toEqual([name, 'completed']);
  };

  it('runs others while executions wait for a limit, and a claim of a client needs no slot', async () => {
    await publish('Task', 's1');
    const held = await outside.claimOne({ agents: ['person'] });
    for (const name of ['s2', 's3']) {
      await publish('Limited', name);
      await waitsFor(name, /^limit pool: 1 of 1 used/);
    }
    await publish('Free', 's4');
    await started('s4', 1);
    expect(await outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
    await works('s4');
    for (const name of ['s2', 's3']) await works(name);
  });

  it('runs others while executions wait for a breaker', async () => {
    await publish('Broken', 'b1');
    await started('b1', 1);
    gatesOf('b1')[0]!.fail();
    expect((await board.ended('b1')).state).toBe('failed');
    await publish('Broken', 'b2');
    await waitsFor('b2', /^breaker of broken: open/);
    await publish('Free', 'b3');
    await works('b3');
    clock.advance(5 * MINUTE);
    await works('b2');
  });

  it('runs others while executions wait for a turn, which one between two attempts keeps', async () => {
    await publish('Turned', 't1');
    await started('t1', 1);
    gatesOf('t1')[0]!.fail();
    await publish('Turned', 't2');
    await waitsFor('t2', /^singleton of turned: 1 of 1 used/);
    await publish('Free', 't3');
    await works('t3');
    clock.advance(2 * MINUTE);
    await works('t1', 2);
    await works('t2');
  });
});
