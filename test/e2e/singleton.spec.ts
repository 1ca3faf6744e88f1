// Agents with `singleton`. Uses the whole app over HTTP on a database, and a server as remote agent. The clock is faked.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { ended as endedBatch, GATE, gatesOf, send, started } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const HOUR_MS = 3_600_000;
const rule = (onConflict: string, key = 'payload.order'): string =>
  `singleton: { key: '${key}', on_conflict: ${onConflict} }`;
const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 5h';

const configuration = (remote: string): string => `
limits:
  pool: { concurrency: 1 }
  paid: { rate: 100/s, burst: 2, units: payload.size, key: payload.order }
agents:
  skipper: { consumes: [{ types: [Order] }], ${rule('skip')}, retry: { attempts: 2, delay: 1h }, ${GATED} }
  twice: { consumes: [{ types: [Both] }, { types: [Both], where: 'true' }], ${rule('skip')}, ${GATED} }
  newest: { consumes: [{ types: [Version] }], ${rule('cancel_running')}, ${GATED} }
  line: { consumes: [{ types: [Job], priority: 'has(payload.urgent) ? 1 : 0' }], ${rule('queue')}, retry: { attempts: 2, delay: 1h }, ${GATED} }
  limited: { consumes: [{ types: [Call] }], limits: [pool], ${rule('queue')}, ${GATED} }
  pool: { consumes: [{ types: [Filler] }], limits: [pool], ${GATED} }
  later: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], ${rule('queue')}, engine: { kind: http, url: "${remote}" } }
  person: { consumes: [{ types: [Task] }], ${rule('queue')}, engine: { kind: external } }
  fair: { consumes: [{ types: [Turn] }], fair_by: payload.tenant, ${rule('queue')}, engine: { kind: external } }
  pair: { consumes: [{ types: [Left, Right] }], ${rule('skip', 'payload.Left.order')}, engine: { kind: external } }
  latest: { consumes: [{ types: [Up, Down] }, { types: [Alone] }], ${rule('cancel_running', 'has(payload.order) ? payload.order : payload.Up.order')}, engine: { kind: external } }
  window: { consumes: [{ types: [Event], batch: { size: 2, key: payload.order } }], ${rule('queue', 'payload[0].order')}, engine: { kind: external } }
  cached: { consumes: [{ types: [Text] }], publishes: [{ type: Ended }], cache: { for: 1h, key: payload.text }, ${rule('queue')}, engine: { kind: function, module: ./gate.js }, timeout: 5h }
  recalled: { consumes: [{ types: [Lot] }], cancel_on: { types: [Recall], key: payload.lot }, ${rule('queue')}, engine: { kind: external } }
  renewed: { consumes: [{ types: [Draft] }], ${rule('cancel_running')}, engine: { kind: external } }
  paid_once: { consumes: [{ types: [PaidOnce] }], limits: [paid], ${rule('skip')}, engine: { kind: external } }
  paid_newest: { consumes: [{ types: [PaidNewest] }], limits: [paid], ${rule('cancel_running')}, engine: { kind: external } }
  both: { consumes: [{ types: [Two] }], cancel_on: { types: [Withdrawn], key: payload.order }, ${rule('skip')}, engine: { kind: external } }
`;

interface Execution {
  id: string;
  agent: string;
  state: string;
  attempt: number;
  started_at: string | null;
  error_type: string | null;
  error_message: string | null;
  cancelled_by?: string;
  skipped_for?: string;
}

describe('singleton', () => {
  const clock = new ManualClock();
  let remote: Receiver;
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    remote = await Receiver.start();
    remote.on('/later', answers(202, { location: '/answer' }));
    board = await Board.start(configuration(remote.url('/later')), {
      clock,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0 },
    });
    outside = new Outside(board.http);
  });
  afterAll(async () => {
    await board?.close();
    await remote?.close();
  });

  const executions = async (query: object): Promise<Execution[]> =>
    (
      (
        await board.http
          .get('/api/v1/executions')
          .query({ limit: 500, ...query })
          .expect(200)
      ).body as { items: Execution[] }
    ).items;

  /** The one execution of a correlation. */
  const only = async (correlation_id: string, query: object = {}): Promise<Execution> => {
    const [execution, ...others] = await executions({ correlation_id, ...query });
    expect([execution?.id, others]).toEqual([expect.any(String), []]);
    return execution!;
  };

  const reaches = (correlation: string, state: string): Promise<void> =>
    eventually(`${correlation} is ${state}`, async () => (await only(correlation)).state === state);

  /** Publishes an artifact whose gate has the name of the correlation. */
  const gated = (type: string, correlation: string, payload: object): Promise<string> =>
    board.publish(type, { batch: correlation, n: 1, ...payload }, { correlation });

  const open = (correlation: string): void => gatesOf(correlation).at(-1)!.open();

  const completes = async (...correlations: string[]): Promise<void> => {
    for (const id of correlations)
      expect([id, await board.ended(id)]).toEqual([
        id,
        expect.objectContaining({ state: 'completed', error_count: 0 }),
      ]);
  };

  const explained = async (correlation: string, agent: string): Promise<string> => {
    const [artifact] = await board.artifacts(correlation);
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
    return (body as { verdicts: { agent: string; detail: string }[] }).verdicts.find((each) => each.agent === agent)!
      .detail;
  };

  const waitsFor = async (correlation: string): Promise<string | null> => {
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    const [item] = (body as { items: { kind: string; limit: string | null }[] }).items;
    return item?.kind === 'limit' ? item.limit : null;
  };

  describe('with skip', () => {
    it('does not run a second execution of the key, and says for which it was skipped', async () => {
      await gated('Order', 's1', { order: 'A' });
      await started('s1', 1);
      const first = await only('s1');
      await gated('Order', 's2', { order: 'A' });
      await completes('s2');
      const skipped = await only('s2');
      expect(skipped).toMatchObject({ state: 'cancelled', started_at: null, skipped_for: first.id });
      expect(skipped).not.toHaveProperty('cancelled_by');
      expect(await explained('s2', 'skipper')).toMatch(
        new RegExp(`; the execution was skipped at \\S+, because the execution ${first.id}, whose key of singleton is`),
      );
      const { body } = await board.http.get('/api/v1/correlations/s2/trace').expect(200);
      expect((body as { executions: object[] }).executions).toMatchObject([{ skipped_for: first.id }]);
      await gated('Order', 's3', { order: 'B' });
      await started('s3', 1);
      ['s1', 's3'].forEach(open);
      await completes('s1', 's3');
      expect(first).not.toHaveProperty('skipped_for');
      await gated('Order', 's4', { order: 'A' });
      await started('s4', 1);
      open('s4');
      await completes('s4');
      expect(gatesOf('s2')).toEqual([]);
      const consumers = async (id: string): Promise<unknown> =>
        (await board.artifacts(id, { embed_meta: true }))[0]!.consumed_by;
      expect([await consumers('s1'), await consumers('s2')]).toEqual([['skipper'], []]);
    });

    it('counts one that waits for its next attempt or for its paused agent', async () => {
      await gated('Order', 'r1', { order: 'C' });
      await started('r1', 1);
      gatesOf('r1')[0]!.fail();
      await eventually('it waits for its next attempt', async () => (await only('r1')).attempt === 2);
      await gated('Order', 'r2', { order: 'C' });
      expect(await only('r2')).toMatchObject({ skipped_for: (await only('r1')).id });
      await board.http.post('/api/v1/agents/skipper/pause').expect(200);
      await gated('Order', 'r3', { order: 'D' });
      await gated('Order', 'r4', { order: 'D' });
      expect(await only('r4')).toMatchObject({ skipped_for: (await only('r3')).id });
      // An execution that ran meanwhile would lose its lease.
      clock.advance(2 * HOUR_MS);
      await board.http.post('/api/v1/agents/skipper/resume').expect(200);
      for (const id of ['r1', 'r3']) await started(id, id === 'r1' ? 2 : 1);
      ['r1', 'r3'].forEach(open);
      await completes('r1', 'r2', 'r3', 'r4');
    });

    it('frees the key when a correlation is cancelled, and when a deadline passes', async () => {
      await gated('Order', 'c1', { order: 'E' });
      await started('c1', 1);
      await board.http.post('/api/v1/correlations/c1/cancel').expect(200);
      await board.publish('Order', { batch: 'c2', n: 1, order: 'E' }, { correlation: 'c2', deadline: 'PT1M' });
      await started('c2', 1);
      clock.advance(61_000);
      expect((await board.ended('c2')).state).toBe('cancelled');
      await gated('Order', 'c3', { order: 'E' });
      await started('c3', 1);
      open('c3');
      await completes('c3');
    });

    it('skips the second execution of one artifact', async () => {
      await gated('Both', 'm1', { order: 'M' });
      await started('m1', 1);
      const both = await executions({ correlation_id: 'm1' });
      const one = both.find(({ state }) => state === 'running');
      const other = both.find(({ state }) => state === 'cancelled');
      expect([both.length, other]).toMatchObject([2, { skipped_for: one!.id }]);
      open('m1');
      await completes('m1');
    });

    it('decides about runs, direct runs and rows of batches when their keys are computed', async () => {
      await gated('Order', 'b1', { order: 'F' });
      await started('b1', 1);
      const first = await only('b1');
      const { body: run } = await board.http
        .post('/run/flock')
        .send({ agent_name: 'skipper', inputs: { order: 'F' } })
        .expect(200);
      expect(run).toMatchObject({ status: 'completed' });
      expect(await only((run as { correlation_id?: string; run_id: string }).run_id)).toMatchObject({
        state: 'cancelled',
        skipped_for: first.id,
      });
      const direct = await board.http
        .post('/api/v1/agents/skipper/run')
        .send({ inputs: [{ type: 'Order', payload: { order: 'F' } }] });
      expect([direct.status, JSON.stringify(direct.body)]).toEqual([
        409,
        expect.stringContaining(`Agent skipper did not run: its execution ${first.id} with the same key of singleton`),
      ]);
      const rows = [{ order: 'F' }, { order: 'F' }, { order: 'Y', batch: 'b2', n: 2 }];
      const batch = await send(board, 'skipper', rows);
      await started('b2', 1);
      open('b2');
      const { results, ...counts } = await endedBatch(board, batch);
      expect(counts).toMatchObject({ completed_items: 3, failed_items: 0 });
      expect(results.map(({ result }) => result)).toEqual([{}, {}, { n: 2 }]);
      open('b1');
      await completes('b1');
      expect(await executions({ agent: 'skipper', state: 'completed', correlation_id: 'b1' })).toHaveLength(1);
    });

    it('decides about joins when their key is computed', async () => {
      const pair = async (correlation: string, order: string): Promise<void> => {
        await board.publish('Left', { order }, { correlation });
        await board.publish('Right', {}, { correlation });
      };
      await pair('j1', 'G');
      const held = await claimed('pair');
      await pair('j2', 'G');
      await completes('j2');
      expect(await only('j2')).toMatchObject({ state: 'cancelled', skipped_for: held.execution_id });
      await outside.send(held, 'complete', { outputs: [] });
      await pair('j3', 'G');
      await outside.send(await claimed('pair'), 'complete', { outputs: [] });
      await completes('j1', 'j3');
    });

    it('lets an execution that is retried by hand wait until the other one has ended', async () => {
      await gated('Order', 'h1', { order: 'H' });
      for (const attempt of [1, 2]) {
        await started('h1', attempt);
        gatesOf('h1').at(-1)!.fail();
        await eventually('the attempt has ended', async () => {
          const { state, attempt: current } = await only('h1');
          return state === 'failed' || current > attempt;
        });
        clock.advance(2 * HOUR_MS);
      }
      await reaches('h1', 'failed');
      await gated('Order', 'h2', { order: 'H' });
      await started('h2', 1);
      await board.http.post(`/api/v1/executions/${(await only('h1')).id}/retry`).expect(200);
      expect(await waitsFor('h1')).toBe('singleton of skipper: 1 of 1 used, 1st of 1 for order H');
      await gated('Order', 'h3', { order: 'H' });
      expect(await only('h3')).toHaveProperty('skipped_for');
      open('h2');
      await started('h1', 3);
      open('h1');
      await reaches('h1', 'completed');
    });

    it('lets it wait also if its error has the name of one about keys', async () => {
      const first = await board.publish('Two', { order: 'N' });
      const failure = { error_message: 'It cannot be done.', error_type: 'priority', final: true };
      await outside.send(await claimed('both'), 'fail', failure);
      await reaches(first, 'failed');
      const second = await board.publish('Two', { order: 'N' });
      await board.http.post(`/api/v1/executions/${(await only(first)).id}/retry`).expect(200);
      expect(await waitsFor(first)).toBe('singleton of both: 1 of 1 used, 1st of 1 for order N');
      for (const id of [first, second]) await board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    });

    it('goes together with cancel_on', async () => {
      const first = await board.publish('Two', { order: 'I' });
      const second = await board.publish('Two', { order: 'I' });
      expect(await only(second)).toHaveProperty('skipped_for');
      await board.publish('Withdrawn', { order: 'I' });
      await reaches(first, 'cancelled');
      const third = await board.publish('Two', { order: 'I' });
      expect(await only(third)).toMatchObject({ state: 'pending' });
      await board.http.post(`/api/v1/correlations/${third}/cancel`).expect(200);
    });
  });

  /** Waits until exactly one execution of the agent can be claimed. */
  const claimed = async (agent: string): Promise<Awaited<ReturnType<Outside['claimOne']>>> => {
    let held: Awaited<ReturnType<Outside['claim']>> = [];
    await eventually('one can be claimed', async () => {
      held = await outside.claim({ agents: [agent], max: 10 });
      return held.length > 0;
    });
    expect(held).toHaveLength(1);
    return held[0]!;
  };

  describe.each([
    ['skip', 'paid_once', 'PaidOnce'],
    ['cancel_running', 'paid_newest', 'PaidNewest'],
  ])('with %s, an execution that failed before its key was stored and is retried by hand', (_, agent, type) => {
    const setBurst = async (burst: number): Promise<void> => {
      await board.http.put('/api/v1/limits/paid').send({ rate: '100/s', burst }).expect(200);
    };

    const retry = async (correlation: string): Promise<void> => {
      await board.http.post(`/api/v1/executions/${(await only(correlation)).id}/retry`).expect(200);
    };

    const finishes = async (correlation: string): Promise<void> => {
      const held = await claimed(agent);
      expect(held.correlation_id).toBe(correlation);
      await outside.send(held, 'complete', { outputs: [] });
      await reaches(correlation, 'completed');
    };

    it.each(['older', 'newer'])('waits until the other one has ended, which is %s', async (age) => {
      await setBurst(2);
      const order = `${agent} ${age}`;
      const publish = (size: number) => board.publish(type, { order, size });
      const fail = async (): Promise<string> => {
        const correlation = await publish(3);
        await reaches(correlation, 'failed');
        return correlation;
      };
      const failedFirst = age === 'newer' ? await fail() : null;
      const other = await publish(0);
      const failed = failedFirst ?? (await fail());
      await setBurst(5);
      await retry(failed);
      const waits = `singleton of ${agent}: 1 of 1 used, 1st of 1 for order ${order}`;
      await eventually('it waits for its turn', async () => (await waitsFor(failed)) === waits);
      await finishes(other);
      await finishes(failed);
    });

    it('starts if no other one has the key', async () => {
      await setBurst(2);
      const failed = await board.publish(type, { order: agent, size: 3 });
      await reaches(failed, 'failed');
      await setBurst(5);
      await retry(failed);
      await finishes(failed);
    });
  });

  describe('with cancel_running', () => {
    it('cancels what runs and what waits, and then runs the newest', async () => {
      await gated('Version', 'v1', { order: 'A' });
      await started('v1', 1);
      await gated('Version', 'v2', { order: 'A' });
      const last = await gated('Version', 'v3', { order: 'A' });
      await gated('Version', 'v4', { order: 'B' });
      for (const id of ['v1', 'v2']) await reaches(id, 'cancelled');
      await started('v3', 1);
      await eventually('the engine of the first is aborted', () => gatesOf('v1')[0]!.isAborted);
      const artifacts = [(await board.artifacts('v2'))[0]!.id, (await board.artifacts(last))[0]!.id];
      for (const id of ['v1', 'v2']) expect(artifacts).toContain((await only(id)).cancelled_by);
      await started('v4', 1);
      ['v3', 'v4'].forEach(open);
      await completes('v1', 'v2', 'v3', 'v4');
      expect(await explained('v1', 'newest')).toMatch(
        / was cancelled at \S+ by the artifact \S+, whose key is the same\.$/,
      );
    });

    it('keeps the newest also if the keys of joins are computed later', async () => {
      const up = async (order: string): Promise<string> => {
        const correlation = await board.publish('Up', { order });
        await board.publish('Down', {}, { correlation });
        return correlation;
      };
      const first = await up('C');
      const second = await board.publish('Alone', { order: 'C' });
      await reaches(first, 'cancelled');
      const third = await up('C');
      await reaches(second, 'cancelled');
      const held = await claimed('latest');
      expect(held.correlation_id).toBe(third);
      await outside.send(held, 'complete', { outputs: [] });
      await completes(first, second, third);
    });
  });

  describe('with cancel_running, of work that clients claim', () => {
    it('lets an execution that is retried by hand wait, which cancels none', async () => {
      const first = await board.publish('Draft', { order: 'A' });
      await outside.send(await claimed('renewed'), 'fail', { error_message: 'It cannot be done.', final: true });
      await reaches(first, 'failed');
      const second = await board.publish('Draft', { order: 'A' });
      await board.http.post(`/api/v1/executions/${(await only(first)).id}/retry`).expect(200);
      expect(await waitsFor(first)).toBe('singleton of renewed: 1 of 1 used, 1st of 1 for order A');
      for (const id of [second, first]) {
        const held = await claimed('renewed');
        expect(held.correlation_id).toBe(id);
        await outside.send(held, 'complete', { outputs: [] });
      }
      await completes(second);
      for (const id of [first, second]) expect(await only(id)).toMatchObject({ state: 'completed' });
    });

    it('cancels what waits for its paused agent', async () => {
      await board.http.post('/api/v1/agents/renewed/pause').expect(200);
      const first = await board.publish('Draft', { order: 'B' });
      const second = await board.publish('Draft', { order: 'B' });
      await reaches(first, 'cancelled');
      expect(await only(second)).toMatchObject({ state: 'pending' });
      await board.http.post('/api/v1/agents/renewed/resume').expect(200);
      const held = await claimed('renewed');
      expect(held.correlation_id).toBe(second);
      await outside.send(held, 'complete', { outputs: [] });
      await completes(first, second);
    });
  });

  describe('with queue', () => {
    it('runs one after the other in order, and says what the others wait for', async () => {
      for (const id of ['q1', 'q2', 'q3']) await gated('Job', id, { order: 'A' });
      await gated('Job', 'q4', { order: 'A', urgent: true });
      await gated('Job', 'q5', { order: 'B' });
      await started('q1', 1);
      await started('q5', 1);
      expect(await waitsFor('q3')).toBe('singleton of line: 1 of 1 used, 3rd of 3 for order A');
      expect(await explained('q2', 'line')).toMatch(
        /; the execution waits for singleton of line: 1 of 1 used, 2nd of 3 for order A\.$/,
      );
      for (const [index, id] of ['q1', 'q4', 'q2', 'q3'].entries()) {
        await started(id, 1);
        const later = ['q1', 'q4', 'q2', 'q3'].slice(index + 1);
        expect(later.flatMap(gatesOf)).toEqual([]);
        open(id);
        await completes(id);
      }
      open('q5');
      await completes('q5');
    });

    it('keeps the turn between attempts and of a paused agent, and passes it on from what is cancelled', async () => {
      for (const id of ['k1', 'k2', 'k3', 'k4']) await gated('Job', id, { order: 'C' });
      await started('k1', 1);
      gatesOf('k1')[0]!.fail();
      await eventually('it waits for its next attempt', async () => (await only('k1')).attempt === 2);
      expect(await waitsFor('k2')).toBe('singleton of line: 1 of 1 used, 1st of 3 for order C');
      await board.http.post('/api/v1/agents/line/pause').expect(200);
      clock.advance(2 * HOUR_MS);
      await board.http.post('/api/v1/correlations/k2/cancel').expect(200);
      await board.http.post('/api/v1/agents/line/resume').expect(200);
      await started('k1', 2);
      expect(gatesOf('k3')).toEqual([]);
      await board.http.post('/api/v1/correlations/k1/cancel').expect(200);
      await started('k3', 1);
      open('k3');
      await started('k4', 1);
      open('k4');
      await completes('k3', 'k4');
    });

    it('keeps the turn while it waits for a limit', async () => {
      await gated('Filler', 'l0', {});
      await started('l0', 1);
      await gated('Call', 'l1', { order: 'D' });
      await eventually(
        'it waits for the limit',
        async () => (await waitsFor('l1'))?.startsWith('limit pool: ') ?? false,
      );
      await gated('Call', 'l2', { order: 'D' });
      expect(await waitsFor('l2')).toBe('singleton of limited: 1 of 1 used, 1st of 1 for order D');
      open('l0');
      await started('l1', 1);
      expect(gatesOf('l2')).toEqual([]);
      open('l1');
      await started('l2', 1);
      open('l2');
      await completes('l0', 'l1', 'l2');
    });

    it('keeps the turn while a remote agent will answer later', async () => {
      const first = await board.publish('Ask', { order: 'E' });
      await eventually('the remote agent will answer later', async () => {
        const rows = await board.app.database.rows<{ lease_owner: string | null }>(
          `select lease_owner from executions where agent = 'later' and state = 'running'`,
        );
        return rows.length === 1 && rows[0]!.lease_owner === null;
      });
      const second = await board.publish('Ask', { order: 'E' });
      expect(await waitsFor(second)).toBe('singleton of later: 1 of 1 used, 1st of 1 for order E');
      const { body, headers } = remote.at('/later')[0]!;
      const { execution_id } = JSON.parse(body) as { execution_id: string };
      const lease = { execution_id, lease_token: headers['starling-lease-token'] as string };
      expect(await outside.send(lease, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
      await completes(first);
      await eventually('the agent is asked again', () => remote.at('/later').length === 2);
      await board.http.post(`/api/v1/correlations/${second}/cancel`).expect(200);
    });

    it('lets clients claim one at a time, also after a release and a lease that has expired', async () => {
      for (const id of ['e1', 'e2']) await board.publish('Task', { order: 'F' }, { correlation: id });
      const held = await claimed('person');
      expect(held.correlation_id).toBe('e1');
      expect(await outside.claim({ agents: ['person'] })).toEqual([]);
      const { id: second } = await only('e2');
      await board.http
        .post(`/api/v1/executions/${second}/claim`)
        .send({})
        .expect(409, {
          detail: `Execution ${second} cannot be claimed now: it waits for another one with its key of singleton`,
        });
      await outside.send(held, 'release');
      expect((await claimed('person')).correlation_id).toBe('e1');
      clock.advance(HOUR_MS);
      const again = await claimed('person');
      expect(again.correlation_id).toBe('e1');
      await outside.send(again, 'complete', { outputs: [] });
      const next = await claimed('person');
      expect(next.correlation_id).toBe('e2');
      await outside.send(next, 'complete', { outputs: [] });
      await completes('e1', 'e2');
    });

    it('and a pause: new ones wait, and one has its turn after it', async () => {
      await board.http.post('/api/v1/agents/person/pause').expect(200);
      const [first, second] = [
        await board.publish('Task', { order: 'P' }),
        await board.publish('Task', { order: 'P' }),
      ];
      expect(await outside.claim({ agents: ['person'] })).toEqual([]);
      await board.http.post('/api/v1/agents/person/resume').expect(200);
      for (const id of [first, second]) {
        const held = await claimed('person');
        expect(held.correlation_id).toBe(id);
        await outside.send(held, 'complete', { outputs: [] });
      }
      await completes(first, second);
    });

    it('and cancel_on: it cancels what has its turn and what waits for it, and the next one starts', async () => {
      const ids: string[] = [];
      for (const lot of ['one', 'one', 'two']) ids.push(await board.publish('Lot', { order: 'L', lot }));
      const held = await claimed('recalled');
      expect(held.correlation_id).toBe(ids[0]);
      await board.publish('Recall', { lot: 'one' });
      for (const id of ids.slice(0, 2)) await reaches(id, 'cancelled');
      const next = await claimed('recalled');
      expect(next.correlation_id).toBe(ids[2]);
      await outside.send(next, 'complete', { outputs: [] });
      await completes(...ids);
    });

    it('takes turns by fair_by among what has its turn of the key', async () => {
      for (const [id, tenant, order] of [
        ['f1', 'many', 'G'],
        ['f2', 'many', 'G'],
        ['f3', 'few', 'H'],
      ])
        await board.publish('Turn', { tenant, order }, { correlation: id });
      const held = await outside.claim({ agents: ['fair'], max: 10 });
      expect(held.map(({ correlation_id: id }) => id).sort()).toEqual(['f1', 'f3']);
      for (const one of held) await outside.send(one, 'complete', { outputs: [] });
      await outside.send(await claimed('fair'), 'complete', { outputs: [] });
      await completes('f1', 'f2', 'f3');
    });

    it('has a turn for the list of a batch window', async () => {
      for (const id of ['w1', 'w2', 'w3', 'w4']) await board.publish('Event', { order: 'I' }, { correlation: id });
      for (const id of ['w2', 'w4']) {
        const held = await claimed('window');
        expect([held.correlation_id, held.inputs.length]).toEqual([id, 2]);
        await outside.send(held, 'complete', { outputs: [] });
      }
    });

    it('takes an earlier answer when its turn has come', async () => {
      await gated('Text', 't1', { order: 'J', text: 'same' });
      await started('t1', 1);
      await gated('Text', 't2', { order: 'J', text: 'same' });
      expect(await waitsFor('t2')).toBe('singleton of cached: 1 of 1 used, 1st of 1 for order J');
      open('t1');
      await completes('t1', 't2');
      expect(await only('t2')).toMatchObject({ cached_from: (await only('t1')).id });
      expect(gatesOf('t2')).toEqual([]);
    });
  });

  it.each([
    ['is null', { order: null }, 'singleton.key is null'],
    ['fails', {}, expect.stringMatching(/^singleton\.key fails: /) as string],
    ['gives a list', { order: ['a'] }, 'singleton.key must give a text, a number or a boolean'],
    ['is long', { order: '😀'.repeat(201) }, 'singleton.key is longer than 200 characters'],
  ])('fails an execution whose key %s', async (_, payload, error_message) => {
    for (const type of ['Order', 'Version', 'Job']) {
      const correlation = await board.publish(type, payload);
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
      expect(await only(correlation)).toMatchObject({ state: 'failed', error_type: 'singleton_key', error_message });
    }
  });

  it('keeps replays and live work apart', async () => {
    const original = await board.publish('Two', { order: 'K' });
    // Only a correlation that has ended can be replayed.
    await board.http.post(`/api/v1/correlations/${original}/cancel`).expect(200);
    const live = await board.publish('Two', { order: 'K' });
    const replayed = async (): Promise<string> =>
      (
        (await board.http.post(`/api/v1/correlations/${original}/replay`).send({ mode: 'full' }).expect(200)).body as {
          correlation_id: string;
        }
      ).correlation_id;
    for (const id of [await replayed(), await replayed()])
      expect(await only(id, { replays: true })).toMatchObject({ state: 'pending' });
    expect(await only(await board.publish('Two', { order: 'K' }))).toMatchObject({
      skipped_for: (await only(live)).id,
    });
    await board.http.post(`/api/v1/correlations/${live}/cancel`).expect(200);
    // The replays have executions that wait, for which it is not skipped.
    expect(await only(await board.publish('Two', { order: 'K' }))).toMatchObject({ state: 'pending' });
  });

  const replayOf = async (original: string): Promise<string> => {
    const path = `/api/v1/correlations/${original}/replay`;
    const { body } = await board.http.post(path).send({ mode: 'full' }).expect(200);
    return (body as { correlation_id: string }).correlation_id;
  };

  it('runs in a replay what was skipped, unless another one of the replay has its key', async () => {
    const live = await board.publish('Two', { order: 'S' });
    const skipped = await board.publish('Two', { order: 'S' });
    await completes(skipped);
    const again = await replayOf(skipped);
    expect(await only(again, { replays: true })).toMatchObject({ state: 'pending' });
    await board.publish('Two', { order: 'S' }, { correlation: live });
    await board.http.post(`/api/v1/correlations/${live}/cancel`).expect(200);
    const both = await executions({ correlation_id: await replayOf(live), replays: true });
    const runs = both.find(({ state }) => state === 'pending');
    expect(both).toHaveLength(2);
    expect(both).toContainEqual(expect.objectContaining({ state: 'cancelled', skipped_for: runs!.id }));
  });

  it('runs in a replay what was cancelled, which cancels no live execution and is cancelled by none', async () => {
    const first = await board.publish('Draft', { order: 'T' });
    const live = await board.publish('Draft', { order: 'T' });
    await reaches(first, 'cancelled');
    await completes(first);
    const again = await replayOf(first);
    const last = await board.publish('Draft', { order: 'T' });
    await reaches(live, 'cancelled');
    const { cancelled_by: by } = await only(live);
    expect(by).toBe((await board.artifacts(last))[0]!.id);
    expect(await only(again, { replays: true })).toMatchObject({ state: 'pending' });
    const held = await outside.claim({ agents: ['renewed'], max: 10 });
    expect(held.map(({ correlation_id: id }) => id).sort()).toEqual([again, last].sort());
    for (const one of held) await outside.send(one, 'complete', { outputs: [] });
  });

  it('lets a replay wait for no live execution', async () => {
    const original = await board.publish('Task', { order: 'U' });
    await outside.send(await claimed('person'), 'complete', { outputs: [] });
    await completes(original);
    const live = await board.publish('Task', { order: 'U' });
    const held = await claimed('person');
    expect(held.correlation_id).toBe(live);
    const replay = await replayOf(original);
    const again = await claimed('person');
    expect(again.correlation_id).toBe(replay);
    for (const one of [held, again]) await outside.send(one, 'complete', { outputs: [] });
    await completes(live);
  });
});

describe('singleton after a restart', () => {
  const folder = new ConfigurationFolder();
  const agent = (more: string): string =>
    `agents:\n  person: { consumes: [{ types: [Task] }], ${more} engine: { kind: external } }\n`;
  let board: Board;

  const restart = async (more: string): Promise<Outside> => {
    await board?.close();
    board = await Board.start(agent(more), { folder: folder.path });
    return new Outside(board.http);
  };

  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  const claims = async (outside: Outside, count: number): Promise<string[]> => {
    const found: string[] = [];
    await eventually(`${count} can be claimed`, async () => {
      const held = await outside.claim({ agents: ['person'], max: 10 });
      for (const each of held) await outside.send(each, 'complete', { outputs: [] });
      found.push(...held.map(({ correlation_id: id }) => id));
      return found.length >= count;
    });
    return found;
  };

  it('turns are as before, also if the configuration no longer has the rule', async () => {
    let outside = await restart(`${rule('queue')},`);
    for (const correlation of ['1', '2', '3', '4']) await board.publish('Task', { order: 'A' }, { correlation });
    outside = await restart(`${rule('queue')},`);
    const held = await outside.claim({ agents: ['person'], max: 10 });
    expect(held).toMatchObject([{ correlation_id: '1' }]);
    outside = await restart('');
    // An execution that is queued without the rule has no turn.
    await board.publish('Task', { order: 'A' }, { correlation: 'free' });
    expect(await claims(outside, 1)).toEqual(['free']);
    expect((await outside.send(held[0]!, 'complete', { outputs: [] })).status).toBe(200);
    for (const id of ['2', '3', '4']) expect(await claims(outside, 1)).toEqual([id]);
  });

  it('turns are passed on one by one while no process has the agent', async () => {
    await restart(`${rule('queue')},`);
    for (const correlation of ['5', '6', '7']) await board.publish('Task', { order: 'B' }, { correlation });
    await board.close();
    board = await Board.start('agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n', {
      folder: folder.path,
    });
    await board.http.post('/api/v1/correlations/5/cancel').expect(200);
    let ready: { correlation_id: string }[] = [];
    await eventually('the next one has its turn', async () => {
      ready = await board.app.database.rows<{ correlation_id: string }>(
        `select correlation_id from executions where agent = 'person' and state = 'pending' and available_at is null`,
      );
      return ready.length > 0;
    });
    expect(ready).toEqual([{ correlation_id: '6' }]);
    await eventually('it is seen to wait for an agent that no process has', async () => {
      const { body } = await board.http.get('/api/v1/executions').query({ without_agent: true }).expect(200);
      return (body as { items: { correlation_id: string }[] }).items.some(({ correlation_id: id }) => id === '6');
    });
    const outside = await restart(`${rule('queue')},`);
    expect(await claims(outside, 2)).toEqual(['6', '7']);
  });
});
