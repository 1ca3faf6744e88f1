import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ended, GATE, gatesOf, send, started } from './batch-board.js';
import { Board } from './board.js';

const GATED = 'limits: [pool], engine: { kind: function, module: ./gate.js }, timeout: 1h';

const CONFIG = `
limits:
  pool: { concurrency: 1 }
  per_session: { concurrency: 1, key: payload.session }
agents:
  one: { consumes: [{ types: [One] }], publishes: [{ type: Ended }], ${GATED} }
  two: { consumes: [{ types: [Two] }], publishes: [{ type: Ended }], ${GATED} }
  person: { consumes: [{ types: [Task] }], publishes: [{ type: Ended }], limits: [pool], engine: { kind: external } }
  approver: { consumes: [{ types: [Asked] }], publishes: [{ type: Ended }], limits: [per_session], engine: { kind: external, assignee: anna } }
  worker: { consumes: [{ types: [Work] }], publishes: [{ type: Ended }], limits: [per_session], engine: { kind: function, module: ./gate.js }, timeout: 1h }
`;

interface Claimed {
  execution_id: string;
  lease_token: string;
}

/** Uses the whole app over HTTP. The clock is faked. */
describe('a limit together with', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: { 'gate.js': GATE }, settings: { shutdownGraceMs: 0 } });
  });
  afterAll(() => board.close());

  const publish = (type: string, correlation: string, deadline?: string): Promise<string> =>
    board.publish(type, { batch: correlation, n: 1 }, { correlation, ...(deadline && { deadline }) });

  const publishIn = (session: string, type: string, correlation: string): Promise<string> =>
    board.publish(type, { batch: correlation, n: 1, session }, { correlation });

  const open = (correlation: string): void => gatesOf(correlation).at(-1)!.open();

  const waitsFor = (correlation: string, kind: string): Promise<void> =>
    eventually(`${correlation} waits for ${kind}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return (body as { items: { kind: string }[] }).items[0]?.kind === kind;
    });

  const completed = async (...correlations: string[]): Promise<void> => {
    for (const id of correlations) expect([id, (await board.ended(id)).state]).toEqual([id, 'completed']);
  };

  it('a pause lets others pass that wait behind the paused agent', async () => {
    await publish('One', 'p1');
    await started('p1', 1);
    await publish('Two', 'p2');
    await waitsFor('p2', 'limit');
    await publish('One', 'p3');
    await waitsFor('p3', 'limit');
    await board.http.post('/api/v1/agents/two/pause').expect(200);
    open('p1');
    await started('p3', 1);
    expect(gatesOf('p2')).toEqual([]);
    await board.http.post('/api/v1/agents/two/resume').expect(200);
    await waitsFor('p2', 'limit');
    open('p3');
    await started('p2', 1);
    open('p2');
    await completed('p1', 'p2', 'p3');
  });

  it('a deadline ends what waits and what runs, and gives its room to the next', async () => {
    await publish('One', 'd1', 'PT2M');
    await started('d1', 1);
    await publish('One', 'd2', 'PT1M');
    await waitsFor('d2', 'deadline');
    await publish('Two', 'd3');
    await waitsFor('d3', 'limit');
    clock.advance(61_000);
    expect((await board.ended('d2')).state).toBe('cancelled');
    expect(gatesOf('d3')).toEqual([]);
    clock.advance(60_000);
    expect((await board.ended('d1')).state).toBe('cancelled');
    await started('d3', 1);
    open('d3');
    await completed('d3');
    expect(gatesOf('d2')).toEqual([]);
  });

  it('external work counts claims, and a released, failed or completed one gives its room back', async () => {
    const claim = async (): Promise<Claimed[]> => {
      const request = { agents: ['person'], max: 5 };
      return (await board.http.post('/api/v1/executions/claim').send(request).expect(200)).body.executions;
    };
    const claimOne = async (): Promise<Claimed> => {
      let claimed: Claimed[] = [];
      await eventually('one can be claimed', async () => (claimed = await claim()).length === 1);
      return claimed[0]!;
    };
    const end = ({ execution_id: id, lease_token }: Claimed, how: string, more: object = {}) =>
      board.http
        .post(`/api/v1/executions/${id}/${how}`)
        .send({ lease_token, ...more })
        .expect(200);

    await publish('Task', 'e1');
    await publish('Task', 'e2');
    const first = await claimOne();
    await waitsFor('e2', 'limit');
    expect(await claim()).toEqual([]);
    await publish('One', 'e3');
    await waitsFor('e3', 'limit');
    await board.http.post('/api/v1/correlations/e3/cancel').expect(200);

    await end(first, 'release');
    const second = await claimOne();
    expect(await claim()).toEqual([]);
    await end(second, 'fail', { error_type: 'Refused', error_message: 'no', final: true });
    const third = await claimOne();
    expect(third.execution_id).not.toBe(second.execution_id);
    await end(third, 'complete', { outputs: [{ type: 'Ended', payload: {} }] });
    expect([(await board.ended('e1')).state, (await board.ended('e2')).state].sort()).toEqual(['completed', 'failed']);
  });

  it('an approval that no person has claimed lets other work of its session run, and a claimed one keeps its place', async () => {
    await publishIn('S', 'Asked', 'a1');
    await waitsFor('a1', 'unclaimed');
    for (const name of ['a2', 'a3']) {
      await publishIn('S', 'Work', name);
      await started(name, 1);
      expect((await board.status('a1')).state).toBe('active');
      open(name);
      await completed(name);
    }
    const request = { agents: ['approver'], assignee: 'anna' };
    const { body } = await board.http.post('/api/v1/executions/claim').send(request).expect(200);
    const [held] = (body as { executions: (Claimed & { correlation_id: string })[] }).executions;
    expect(held!.correlation_id).toBe('a1');
    await publishIn('S', 'Work', 'a4');
    await waitsFor('a4', 'limit');
    await publishIn('T', 'Work', 'a5');
    await started('a5', 1);
    expect(gatesOf('a4')).toEqual([]);
    const answer = { lease_token: held!.lease_token, outputs: [{ type: 'Ended', payload: {} }] };
    await board.http.post(`/api/v1/executions/${held!.execution_id}/complete`).send(answer).expect(200);
    await started('a4', 1);
    for (const name of ['a4', 'a5']) open(name);
    await completed('a1', 'a4', 'a5');
  });

  it('a batch lets one row start after the other, whatever its workers', async () => {
    const inputs = ['r1', 'r2'].map((batch) => ({ batch, n: 1 }));
    const request = { agent_name: 'one', batch_inputs: inputs, max_workers: 2 };
    const { body } = await board.http.post('/run/batch').send(request).expect(200);
    const rows = ['r1', 'r2'];
    const running = (): string[] => rows.filter((row) => gatesOf(row).length > 0);
    await eventually('one runs', () => running().length === 1);
    const [one] = running() as [string];
    await eventually('one waits', async () => (await board.http.get('/api/v1/limits/pool')).body.waiting === 1);
    expect(running()).toEqual([one]);
    open(one);
    const other = rows.find((row) => row !== one)!;
    await started(other, 1);
    open(other);
    await eventually('the batch has ended', async () => {
      const path = `/batch/${(body as { batch_id: string }).batch_id}`;
      return (await board.http.get(path).expect(200)).body.status === 'completed';
    });
  });

  it('a batch has a key for each row, and its workers hold too', async () => {
    const sessions = { s1: 'X', s2: 'X', s3: 'Y', s4: 'Z' };
    const inputs = Object.entries(sessions).map(([batch, session]) => ({ batch, n: 1, session }));
    const batch = await send(board, 'worker', inputs, { max_workers: 3 });
    await started('s1', 1);
    await started('s3', 1);
    await eventually('one waits for its session', async () => {
      return (await board.http.get('/api/v1/limits/per_session')).body.waiting === 1;
    });
    expect(gatesOf('s2')).toEqual([]);
    const rows = async (): Promise<number> =>
      ((await board.http.get('/api/v1/executions').query({ agent: 'worker' }).expect(200)).body as { items: object[] })
        .items.length;
    const before = await rows();
    open('s3');
    await started('s4', 1);
    expect(await rows()).toBe(before + 1);
    expect(gatesOf('s2')).toEqual([]);
    open('s1');
    await started('s2', 1);
    for (const name of ['s2', 's4']) open(name);
    expect(await ended(board, batch)).toMatchObject({ status: 'completed', completed_items: 4 });
  });
});
