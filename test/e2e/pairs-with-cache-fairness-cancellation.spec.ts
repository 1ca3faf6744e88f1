// `cache`, `fair_by` or `cancel_on` together with another rule. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { answers, type Received, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import { ended, gatesOf, send, started } from './batch-board.js';
import { type Execution, EXTERNAL, GATED, MINUTE, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const CALLED_OFF = 'cancel_on: { types: [Off], key: payload.order }';

const configuration = (remote: string): string => `
agents:
  off_rows: { consumes: [{ types: [OffRow] }], ${CALLED_OFF}, ${EXTERNAL} }
  cached_pause: { consumes: [{ types: [CachedPause] }], cache: { for: 10m, key: payload.text }, ${GATED} }
  cached_fair: { consumes: [{ types: [CachedFair] }], fair_by: payload.tenant, cache: { for: 5h, key: payload.text }, concurrency: 1, ${GATED} }
  cached_first: { consumes: [{ types: [CachedFirst], priority: payload.urgency }], cache: { for: 5h, key: payload.text }, concurrency: 1, ${GATED} }
  cached_again: { consumes: [{ types: [CachedAgain] }], cache: { for: 5h, key: payload.text }, ${TWICE}, ${GATED} }
  cached_ended: { consumes: [{ types: [CachedEnded] }], cache: { for: 5h, key: payload.text }, ${GATED} }
  fair_retry: { consumes: [{ types: [FairRetry] }], fair_by: payload.tenant, retry: { attempts: 5, delay: 0s }, ${EXTERNAL} }
  varied: { consumes: [{ types: [Varied] }], publishes: [{ type: Ended }], cache: { for: 5h, key: payload.text }, engine: { kind: expression, expression: "{ 'by': 'base' }" }, variants: { other: { share: 50%, expression: "{ 'by': 'other' }" } } }
  fair_remote: { consumes: [{ types: [FairRemote] }], publishes: [{ type: Ended }], fair_by: payload.tenant, concurrency: 1, engine: { kind: http, url: "${remote}/later" } }
  cached_window: { consumes: [{ types: [CachedPart], batch: { size: 2 } }], cache: { for: 5h }, ${GATED} }
  cached_rows: { consumes: [{ types: [CachedRow] }], cache: { for: 5h, key: payload.text }, ${GATED} }
  cached_runs: { consumes: [{ types: [CachedRun] }], publishes: [{ type: Ended }], cache: { for: 5h, key: payload.text }, engine: { kind: expression, expression: "{ 'n': payload.n }" } }
  cached_remote: { consumes: [{ types: [CachedRemote] }], publishes: [{ type: Ended }], cache: { for: 5h, key: payload.text }, engine: { kind: http, url: "${remote}/not-kept" } }
  cached_off: { consumes: [{ types: [CachedOff] }], cache: { for: 5h, key: payload.text }, ${CALLED_OFF}, ${GATED} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, only, ends, failsOnce, works, waitsAs, callOff, pause, resume, claim, complete } = pairs;
  let remote: Receiver;

  beforeAll(async () => {
    remote = await Receiver.start();
    for (const path of ['/later', '/not-kept']) remote.on(path, answers(202, { location: '/later' }));
    await pairs.start(configuration(remote.url('')));
  });
  afterAll(async () => {
    await pairs.close();
    await remote?.close();
  });

  /** Completes the execution of a request that was answered with 202. */
  const answerLater = async (received: Received): Promise<void> => {
    const { execution_id } = requestIn(received);
    await eventually(
      'it answers later',
      async () => (await pairs.outside.execution(execution_id)).lease_until !== null,
    );
    const held = { execution_id, lease_token: received.headers['starling-lease-token'] as string };
    expect(await pairs.outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
  };

  describe('cache', () => {
    it('and a pause: the time of the answers passes, from the end of the execution', async () => {
      await publish('CachedPause', ['cp1'], { text: 'known' });
      await started('cp1', 1);
      clock.advance(7 * MINUTE);
      await works('cp1');
      const afterPause = async (name: string, ms: number): Promise<void> => {
        await pause('cached_pause');
        await publish('CachedPause', [name], { text: 'known' });
        clock.advance(ms);
        await resume('cached_pause');
      };
      await afterPause('cp2', 4 * MINUTE);
      await ends('cp2');
      expect(await only('cp2')).toMatchObject({ cached_from: (await only('cp1')).id });
      await afterPause('cp3', 7 * MINUTE);
      await works('cp3');
      expect(await only('cp3')).not.toHaveProperty('cached_from', expect.any(String));
    });

    it('and fair_by: an execution that takes an answer uses a turn', async () => {
      await publish('CachedFair', ['cf0'], { tenant: 'a', text: 'known' });
      await works('cf0');
      await pause('cached_fair');
      const many = ['cf1', 'cf2', 'cf3', 'cf4', 'cf5'];
      await publish('CachedFair', many, { tenant: 'a', text: 'known' });
      await publish('CachedFair', ['cf6'], { tenant: 'b', text: 'new' });
      await resume('cached_fair');
      await started('cf6', 1);
      const states = await Promise.all(many.map(async (name) => (await only(name)).state));
      // The other key starts at most two before it.
      expect(states.filter((state) => state !== 'pending').length).toBeLessThanOrEqual(2);
      await works('cf6');
      for (const name of many) await ends(name);
    });

    it('and concurrency and priority: an execution waits for its place, and takes the answer when it starts', async () => {
      await publish('CachedFirst', ['ct1'], { urgency: 0, text: 'known' });
      await works('ct1');
      await publish('CachedFirst', ['ct2'], { urgency: 0, text: 'second' });
      await started('ct2', 1);
      await publish('CachedFirst', ['ct3'], { urgency: 0, text: 'known' });
      await publish('CachedFirst', ['ct4'], { urgency: 5, text: 'fourth' });
      for (const name of ['ct3', 'ct4']) await waitsAs(name, 'concurrency');
      await works('ct2');
      await started('ct4', 1);
      await waitsAs('ct3', 'concurrency');
      await works('ct4');
      await ends('ct3');
      expect(await only('ct3')).toMatchObject({ cached_from: (await only('ct1')).id });
      expect(gatesOf('ct3')).toEqual([]);
    });

    it('and retries: each attempt looks for an answer first, and a failed one leaves none', async () => {
      await publish('CachedAgain', ['ca1'], { text: 'asked' });
      await failsOnce('ca1');
      await publish('CachedAgain', ['ca2'], { text: 'asked' });
      await works('ca2');
      clock.advance(RETRY);
      await ends('ca1');
      expect(await only('ca1')).toMatchObject({ attempt: 2, cached_from: (await only('ca2')).id });
      expect(gatesOf('ca1')).toHaveLength(1);
    });

    it('and cancel and a deadline: what they end leaves no answer', async () => {
      await publish('CachedEnded', ['ce1'], { text: 'known' });
      await started('ce1', 1);
      await pairs.board.http.post('/api/v1/correlations/ce1/cancel').expect(200);
      await publish('CachedEnded', ['ce2'], { text: 'known' }, { deadline: 'PT1M' });
      await started('ce2', 1);
      clock.advance(MINUTE);
      await ends('ce2', 'cancelled');
      await publish('CachedEnded', ['ce3'], { text: 'known' });
      await works('ce3');
      await publish('CachedEnded', ['ce4'], { text: 'known' });
      await ends('ce4');
      expect(await only('ce4')).toMatchObject({ cached_from: (await only('ce3')).id });
    });

    it('and a batch window: all its artifacts in their order are the key', async () => {
      const window = async (...ns: number[]): Promise<string> => {
        let last = '';
        for (const n of ns) last = await pairs.board.publish('CachedPart', { batch: 'cw', n });
        return last;
      };
      const first = await window(1, 2);
      await started('cw', 1);
      gatesOf('cw')[0]!.open();
      await ends(first);
      const equal = await window(1, 2);
      await ends(equal);
      expect(await only(equal)).toMatchObject({ cached_from: (await only(first)).id });
      const turned = await window(2, 1);
      await started('cw', 2);
      gatesOf('cw')[1]!.open();
      await ends(turned);
    });

    it('and the rows of a batch: they take answers and leave some', async () => {
      const row = async (name: string): Promise<string> =>
        await send(pairs.board, 'cached_rows', [{ batch: name, n: 1, text: 'known' }]);
      const asked = await row('cr1');
      await started('cr1', 1);
      gatesOf('cr1')[0]!.open();
      const { results } = await ended(pairs.board, asked);
      const { id } = await only(results[0]!.run_id);
      const { results: taken } = await ended(pairs.board, await row('cr2'));
      expect(taken).toMatchObject([{ status: 'completed', result: results[0]!.result }]);
      expect(await only(taken[0]!.run_id)).toMatchObject({ cached_from: id });
      await publish('CachedRow', ['cr3'], { text: 'known' });
      await ends('cr3');
      expect(await only('cr3')).toMatchObject({ cached_from: id });
      expect([...gatesOf('cr2'), ...gatesOf('cr3')]).toEqual([]);
    });

    it('and a run and a direct run: they take answers and leave some', async () => {
      const { http } = pairs.board;
      const run = async (n: number, text: string): Promise<string> => {
        const body = { agent_name: 'cached_runs', inputs: { text, n } };
        return ((await http.post('/run/flock').send(body).expect(200)).body as { run_id: string }).run_id;
      };
      const runDirectly = async (n: number, text: string): Promise<Execution & { correlation_id: string }> => {
        const inputs = [{ type: 'CachedRun', payload: { text, n } }];
        const { body } = await http.post('/api/v1/agents/cached_runs/run').send({ inputs }).expect(200);
        const [{ correlation_id }] = (body as { artifacts: [{ correlation_id: string }] }).artifacts;
        return { ...(await only(correlation_id)), correlation_id };
      };
      const first = await only(await run(1, 'by a run'));
      expect(await only(await run(2, 'by a run'))).toMatchObject({ cached_from: first.id });
      expect(await runDirectly(3, 'by a run')).toMatchObject({ cached_from: first.id });
      const direct = await runDirectly(4, 'by a direct run');
      expect(direct.cached_from).toBeUndefined();
      expect(await only(await run(5, 'by a direct run'))).toMatchObject({ cached_from: direct.id });
      await publish('CachedRun', ['cu'], { text: 'by a direct run', n: 6 });
      await ends('cu');
      expect((await pairs.board.artifacts('cu', { type: 'Ended' }))[0]!.payload).toEqual({ n: 4 });
    });

    it('and a remote agent: its later answer is not kept', async () => {
      for (const name of ['cl1', 'cl2']) {
        const asked = () => remote.at('/not-kept').find((received) => requestIn(received).correlation_id === name);
        await publish('CachedRemote', [name], { text: 'asked' });
        await eventually('the agent is asked', () => asked() !== undefined);
        await answerLater(asked()!);
        await ends(name);
        expect((await only(name)).cached_from).toBeUndefined();
      }
    });

    it('and cancel_on: what is cancelled leaves no answer', async () => {
      await publish('CachedOff', ['co1'], { order: 'co', text: 'known' });
      await started('co1', 1);
      await callOff('co');
      await ends('co1');
      expect(await only('co1')).toMatchObject({ state: 'cancelled' });
      await publish('CachedOff', ['co2'], { order: 'other', text: 'known' });
      await works('co2');
      await publish('CachedOff', ['co3'], { order: 'co', text: 'known' });
      await ends('co3');
      expect(await only('co3')).toMatchObject({ state: 'completed', cached_from: (await only('co2')).id });
    });

    it('and variants: each takes its own answers', async () => {
      const names = Array.from({ length: 12 }, (_, n) => `cv${n}`);
      for (const name of names) {
        await publish('Varied', [name], { text: 'known' });
        await ends(name);
      }
      const all = await Promise.all(names.map(only));
      for (const variant of ['base', 'other']) {
        const [asked, ...others] = all.filter((each) => each.variant === variant);
        expect(asked).toBeDefined();
        expect(others.map(({ cached_from: from }) => from)).toEqual(others.map(() => asked!.id));
      }
    });
  });

  it('fair_by and retries: each attempt uses a turn', async () => {
    await publish('FairRetry', ['fr1'], { tenant: 'a' });
    await publish('FairRetry', ['fr2'], { tenant: 'b' });
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const [held] = await claim('fair_retry', 1);
      order.push(held!.correlation_id);
      if (held!.correlation_id === 'fr1') await pairs.outside.send(held!, 'fail', { error_message: 'again' });
      else await complete([held!]);
    }
    expect(order.filter((name) => name === 'fr2')).toEqual(['fr2']);
    // The other key starts at most two before it.
    expect(order.indexOf('fr2')).toBeLessThanOrEqual(2);
  });

  it('fair_by and a remote agent that answers later: the request uses a turn, and the later answer none', async () => {
    await pause('fair_remote');
    await publish('FairRemote', ['fm1', 'fm2', 'fm3'], { tenant: 'a' });
    await publish('FairRemote', ['fm4', 'fm5', 'fm6'], { tenant: 'b' });
    await resume('fair_remote');
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      await eventually('the agent is asked', () => remote.at('/later').length === n + 1);
      const received = remote.at('/later')[n]!;
      order.push(requestIn(received).correlation_id);
      await answerLater(received);
    }
    const tenants = order.map((name) => (['fm1', 'fm2', 'fm3'].includes(name) ? 'a' : 'b')).join('');
    expect([...order].sort()).toEqual(['fm1', 'fm2', 'fm3', 'fm4', 'fm5', 'fm6']);
    // Between two starts of one key, the other one starts at most two, while both wait.
    expect(tenants).not.toMatch(/aaa|bbb/);
  });

  describe('cancel_on', () => {
    it('and a run and the rows of a batch: they complete without outputs', async () => {
      const run = (
        await pairs.board.http
          .post('/run/flock')
          .send({ agent_name: 'off_rows', inputs: { order: 'or' }, async_run: true })
          .expect(200)
      ).body as { run_id: string };
      const batch = await send(pairs.board, 'off_rows', [{ order: 'or' }, { order: 'or' }]);
      await eventually('all wait', async () => {
        const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'off_rows' }).expect(200);
        return (body as { items: Execution[] }).items.length === 3;
      });
      const off = await callOff('or');
      expect(await only(run.run_id)).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await eventually('the run has ended', async () => {
        const { body } = await pairs.board.http.get(`/run/${run.run_id}`).expect(200);
        return (body as { status: string }).status === 'completed';
      });
      expect(await ended(pairs.board, batch)).toMatchObject({ completed_items: 2, failed_items: 0 });
    });

    it('and a pause: executions of a paused agent are cancelled', async () => {
      await pause('off_rows');
      await publish('OffRow', ['op1'], { order: 'op' });
      const off = await callOff('op');
      expect(await only('op1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await resume('off_rows');
    });

    it('and a retry by hand: a later artifact cancels the execution, and an earlier one does not', async () => {
      await publish('OffRow', ['oh1'], { order: 'oh' });
      const [held] = await claim('off_rows');
      await pairs.outside.send(held!, 'fail', { error_message: 'no', final: true });
      await ends('oh1', 'failed');
      await callOff('oh');
      const { id, state } = await only('oh1');
      expect(state).toBe('failed');
      await pairs.board.http.post(`/api/v1/executions/${id}/retry`).expect(200);
      expect(await only('oh1')).toMatchObject({ state: 'pending' });
      const off = await callOff('oh');
      expect(await only('oh1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
    });
  });
});
