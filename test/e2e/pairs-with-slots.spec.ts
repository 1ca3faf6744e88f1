// Rules that let executions wait, and the slots of a process. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { answers, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import { gatesOf, started } from './batch-board.js';
import { EXTERNAL, GATED, MINUTE, ONCE, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const configuration = (remote: string): string => `
limits:
  pool: { concurrency: 1 }
  calls: { rate: 1/m, key: payload.host }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], ${EXTERNAL} }
  limited: { consumes: [{ types: [Limited] }], limits: [pool], ${GATED} }
  broken: { consumes: [{ types: [Broken] }], breaker: { failures: 50%, of: 2, open: 5m }, ${ONCE}, ${GATED} }
  turned: { consumes: [{ types: [Turned] }], singleton: { key: "'a'", on_conflict: queue }, ${TWICE}, ${GATED} }
  paced: { consumes: [{ types: [Paced] }], limits: [pool, calls], concurrency: 1, ${GATED} }
  again: { consumes: [{ types: [Again] }], limits: [pool], concurrency: 1, retry: { attempts: 2, delay: 10s, max_delay: 10s }, ${GATED} }
  remote: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], concurrency: 1, engine: { kind: http, url: "${remote}" } }
  free: { consumes: [{ types: [Free] }], ${GATED} }
`;

describe('a process that runs one execution at a time', () => {
  const pairs = new PairsBoard();
  const { clock, publish, ends, fails, failsOnce, works, waitsFor, claim, complete } = pairs;

  let remote: Receiver;

  beforeAll(async () => {
    remote = await Receiver.start();
    remote.on('/later', answers(202, { location: '/later' }));
    await pairs.start(configuration(remote.url('/later')), { maxConcurrentExecutions: 1 });
  });
  afterAll(async () => {
    await pairs.close();
    await remote?.close();
  });

  it('runs others while executions wait for a limit, and a claim of a client needs no slot', async () => {
    await publish('Task', ['s1']);
    const held = await claim('person');
    await publish('Limited', ['s2', 's3']);
    for (const name of ['s2', 's3']) await waitsFor(name, /^limit pool: 1 of 1 used/);
    await publish('Free', ['s4']);
    await started('s4', 1);
    await complete(held);
    await works('s4');
    for (const name of ['s2', 's3']) await works(name);
  });

  it('runs others while executions wait for a rate, of the same agent and of its other limit, too', async () => {
    await publish('Paced', ['r1', 'r2'], { host: 'a' });
    await works('r1');
    await waitsFor('r2', /^limit calls: 1 of 1 used, 1st of 1 for host a, next in 60\.0 s$/);
    await publish('Paced', ['r3'], { host: 'b' });
    await works('r3');
    await publish('Limited', ['r4']);
    await works('r4');
    await publish('Free', ['r5']);
    await works('r5');
    clock.advance(MINUTE);
    await works('r2');
  });

  it('runs others while an execution waits for ten seconds for its next attempt, too', async () => {
    await publish('Again', ['a1']);
    await failsOnce('a1');
    await publish('Again', ['a2']);
    await works('a2');
    await publish('Limited', ['a3']);
    await works('a3');
    await publish('Free', ['a4']);
    await works('a4');
    expect(gatesOf('a1')).toHaveLength(1);
    // The delay varies.
    clock.advance(15_000);
    await works('a1', 2);
  });

  it('runs others while a remote agent will answer later, which keeps its place in the concurrency of its agent', async () => {
    await publish('Ask', ['m1']);
    await eventually('the agent is asked', () => remote.at('/later').length === 1);
    await publish('Ask', ['m2']);
    await publish('Free', ['m3']);
    await works('m3');
    expect(remote.at('/later')).toHaveLength(1);
    for (const [place, name] of ['m1', 'm2'].entries()) {
      await eventually('the agent is asked', () => remote.at('/later').length === place + 1);
      const received = remote.at('/later')[place]!;
      const { execution_id } = requestIn(received);
      const held = { execution_id, lease_token: received.headers['starling-lease-token'] as string };
      await eventually('it answers later', async () => {
        return (await pairs.outside.execution(execution_id)).lease_until !== null;
      });
      expect(await pairs.outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
      await ends(name);
    }
  });

  it('runs others while executions wait for a breaker', async () => {
    await publish('Broken', ['b1']);
    await fails('b1');
    await ends('b1', 'failed');
    await publish('Broken', ['b2']);
    await waitsFor('b2', /^breaker of broken: open/);
    await publish('Free', ['b3']);
    await works('b3');
    clock.advance(5 * MINUTE);
    await works('b2');
  });

  it('runs others while executions wait for a turn, which one between two attempts keeps', async () => {
    await publish('Turned', ['t1']);
    await failsOnce('t1');
    await publish('Turned', ['t2']);
    await waitsFor('t2', /^singleton of turned: 1 of 1 used/);
    await publish('Free', ['t3']);
    await works('t3');
    clock.advance(RETRY);
    await works('t1', 2);
    await works('t2');
  });
});
