// Pairs of rules of which one is priority. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { send } from './batch-board.js';
import { EXTERNAL, MINUTE, namesOf, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const agent = (name: string, consumes: string, more = ''): string =>
  `  ${name}: { consumes: [{ ${consumes} }], timeout: 50h, ${more}${EXTERNAL} }`;
const CONFIG = `
agents:
${agent('turned', 'types: [Turned], priority: payload.urgency', 'singleton: { key: payload.order, on_conflict: queue }, ')}
${agent('skipper', 'types: [Skipped], priority: payload.urgency', 'singleton: { key: payload.order, on_conflict: skip }, ')}
${agent('newest', 'types: [Newest], priority: payload.urgency', 'singleton: { key: payload.order, on_conflict: cancel_running }, ')}
${agent('turned_rows', 'types: [TurnedRow]', 'singleton: { key: payload.order, on_conflict: queue }, ')}
${agent('joined', 'types: [Left, Right], priority: payload.Left.urgency')}
${agent('retried', 'types: [Retried], priority: payload.urgency', `${TWICE}, `)}
${agent('hidden', 'types: [Hidden], priority: payload.urgency')}
${agent('paused', 'types: [Paused], priority: payload.urgency')}
${agent('rows', 'types: [Row], priority: payload.urgency')}
${agent('replayed', 'types: [Replayed], priority: payload.urgency')}
${agent('broken', 'types: [Broken], priority: payload.urgency', 'breaker: { failures: 50%, of: 2, open: 5m }, ')}
${agent('ended', 'types: [EndedEarly], priority: payload.urgency')}
${agent('run', 'types: [Run], priority: payload.urgency')}
${agent('called', 'types: [Called], priority: payload.urgency', 'cancel_on: { types: [Off], key: payload.order }, ')}
`;

describe('priority and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, only, ends, claim, claimInOrder, complete, callOff, pause, resume } = pairs;
  const { areQueued, replay, waitsFor, waitsAs } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  it('singleton: it decides which execution of a key is next', async () => {
    await publish('Turned', ['ps1', 'ps2'], { order: 'A', urgency: 0 });
    await publish('Turned', ['ps3'], { order: 'A', urgency: 5 });
    for (const name of ['ps1', 'ps3', 'ps2']) {
      const held = await claim('turned');
      expect(held.map(({ correlation_id }) => correlation_id)).toEqual([name]);
      await complete(held);
    }
  });

  it('singleton that skips or cancels: it decides nothing', async () => {
    await publish('Skipped', ['pn1'], { order: 'A', urgency: 0 });
    await publish('Skipped', ['pn2'], { order: 'A', urgency: 9 });
    expect(await only('pn2')).toMatchObject({ state: 'cancelled', skipped_for: (await only('pn1')).id });
    await publish('Newest', ['pn3'], { order: 'A', urgency: 9 });
    await publish('Newest', ['pn4'], { order: 'A', urgency: 0 });
    await ends('pn3');
    expect(await only('pn3')).toMatchObject({ state: 'cancelled' });
    expect(namesOf(await claim('newest'))).toEqual(['pn4']);
  });

  it('singleton and the rows of a batch: they come after others of the same priority', async () => {
    await publish('TurnedRow', ['pt1'], { order: 'A' });
    const first = await claim('turned_rows');
    await send(pairs.board, 'turned_rows', [{ order: 'A' }]);
    await eventually('the row waits', async () => {
      const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'turned_rows' }).expect(200);
      return (body as { items: object[] }).items.length === 2;
    });
    await publish('TurnedRow', ['pt2'], { order: 'A' });
    await areQueued('pt2');
    await complete(first);
    const second = await claim('turned_rows');
    expect(namesOf(second)).toEqual(['pt2']);
    await complete(second);
    await complete(await claim('turned_rows'));
  });

  it('a join: it sees all artifacts when the join is complete', async () => {
    await publish('Right', ['pj1', 'pj2']);
    await publish('Left', ['pj1'], { urgency: 0 });
    await publish('Left', ['pj2'], { urgency: 5 });
    await areQueued('pj1', 'pj2');
    expect(await claimInOrder('joined', 2)).toEqual(['pj2', 'pj1']);
  });

  it('retries: they keep it', async () => {
    await publish('Retried', ['pr1'], { urgency: 5 });
    const [held] = await claim('retried');
    const error = { error_type: 'shut', error_message: 'it is shut' };
    expect((await pairs.outside.send(held!, 'fail', error)).status).toBe(200);
    await publish('Retried', ['pr2'], { urgency: 0 });
    await publish('Retried', ['pr3'], { urgency: 9 });
    clock.advance(RETRY);
    await waitsAs('pr1', 'unclaimed');
    expect(await claimInOrder('retried', 3)).toEqual(['pr3', 'pr1', 'pr2']);
  });

  it('a hidden artifact: it counts from its release', async () => {
    await publishHidden('Hidden', 'ph1', { urgency: 5 });
    await publish('Hidden', ['ph2', 'ph3'], { urgency: 0 });
    expect(await claimInOrder('hidden', 1)).toEqual(['ph2']);
    clock.advance(MINUTE);
    await areQueued('ph1');
    expect(await claimInOrder('hidden', 2)).toEqual(['ph1', 'ph3']);
  });

  it('a pause: what has come meanwhile starts by it', async () => {
    await pause('paused');
    await publish('Paused', ['pp1'], { urgency: 0 });
    await publish('Paused', ['pp2'], { urgency: 5 });
    await resume('paused');
    expect(await claimInOrder('paused', 2)).toEqual(['pp2', 'pp1']);
  });

  it('the rows of a batch: they have it, and come after others of the same priority', async () => {
    await send(pairs.board, 'rows', [
      { urgency: 0, row: 1 },
      { urgency: 5, row: 2 },
    ]);
    await eventually('both rows wait', async () => {
      const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'rows' }).expect(200);
      const keys = await pairs.board.app.database.rows(`select id from timers where kind = 'limits'`);
      return (body as { items: object[] }).items.length === 2 && keys.length === 0;
    });
    await publish('Row', ['pb1'], { urgency: 0 });
    const rows: unknown[] = [];
    for (let n = 0; n < 3; n += 1) rows.push((await claim('rows', 1))[0]!.inputs[0]!.payload['row']);
    expect(rows).toEqual([2, undefined, 1]);
  });

  it('a replay: it comes after live executions of the same priority', async () => {
    await publish('Replayed', ['pl1'], { urgency: 5 });
    await complete(await claim('replayed'));
    await ends('pl1');
    const replayed = await replay('pl1');
    await areQueued(replayed);
    await publish('Replayed', ['pl2'], { urgency: 5 });
    await publish('Replayed', ['pl3'], { urgency: 0 });
    expect(await claimInOrder('replayed', 3)).toEqual(['pl2', replayed, 'pl3']);
  });

  it('a breaker: it decides which execution the attempt that decides belongs to', async () => {
    await publish('Broken', ['pk1'], { urgency: 0 });
    const [held] = await claim('broken');
    await pairs.outside.send(held!, 'fail', { error_message: 'down', final: true });
    await publish('Broken', ['pk2', 'pk3'], { urgency: 0 });
    await publish('Broken', ['pk4'], { urgency: 5 });
    expect(await pairs.outside.claim({ agents: ['broken'], max: 10 })).toEqual([]);
    for (const [place, name] of ['pk4', 'pk2', 'pk3'].entries())
      await waitsFor(name, new RegExp(`^breaker of broken: open, ${place + 1}.. of 3`));
    clock.advance(5 * MINUTE);
    const decides = await claim('broken');
    expect(namesOf(decides)).toEqual(['pk4']);
    await complete(decides);
    for (const name of ['pk2', 'pk3']) await waitsAs(name, 'unclaimed');
    expect(await claimInOrder('broken', 2)).toEqual(['pk2', 'pk3']);
  });

  it('cancel and a deadline: they end an execution whatever its priority, and the next one comes', async () => {
    await publish('EndedEarly', ['pe1'], { urgency: 9 });
    await publish('EndedEarly', ['pe2'], { urgency: 5 }, { deadline: 'PT1M' });
    await publish('EndedEarly', ['pe3'], { urgency: 0 });
    await pairs.board.http.post('/api/v1/correlations/pe1/cancel').expect(200);
    clock.advance(MINUTE);
    await ends('pe2', 'cancelled');
    expect(await claimInOrder('ended', 1)).toEqual(['pe3']);
  });

  it('a run: it has the priority of the subscription', async () => {
    await publish('Run', ['pd1'], { urgency: 3 });
    const run = async (urgency: number): Promise<string> => {
      const request = { agent_name: 'run', inputs: { urgency }, async_run: true };
      return ((await pairs.board.http.post('/run/flock').send(request).expect(200)).body as { run_id: string }).run_id;
    };
    const first = await run(5);
    const last = await run(0);
    await areQueued('pd1', first, last);
    expect(await claimInOrder('run', 3)).toEqual([first, 'pd1', last]);
  });

  it('cancel_on: it decides nothing', async () => {
    await publish('Called', ['pc1'], { order: 'A', urgency: 0 });
    await publish('Called', ['pc2'], { order: 'A', urgency: 9 });
    await callOff('A');
    for (const name of ['pc1', 'pc2']) expect(await only(name)).toMatchObject({ state: 'cancelled' });
  });
});
