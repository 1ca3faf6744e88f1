import { once } from 'node:events';

import { Client } from 'pg';

import { TimerLoop } from '../../src/blackboard/timers/timer-loop.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { answers, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const config = (agents: Receiver): string => `
agents:
  packer:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Packed }]
    engine: { kind: external, due: { after: 10m, then: fail } }
    timeout: 60s
    concurrency: 2
  checker:
    consumes: [{ types: [Check] }]
    publishes: [{ type: Checked }]
    engine: { kind: external, assignee: anna, due: { after: 30m, then: escalate, to: head } }
    timeout: 2h
  courier:
    consumes: [{ types: [Letter] }]
    publishes: [{ type: Delivered }]
    engine: { kind: http, url: "${agents.url('/courier')}" }
    concurrency: 1
  labeller: { consumes: [{ types: [Packed] }], publishes: [{ type: Label }], engine: { kind: function, module: ./done.js } }
`;

/** Uses three apps over HTTP on one Postgres, one of which runs no executions. Only their wake-ups connect them. */
describe('executions that workers claim from several processes', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();
  let boards: [server: Board, one: Board, other: Board];
  let outside: [Outside, Outside, Outside];
  let couriers: Receiver;

  beforeAll(async () => {
    couriers = await Receiver.start();
    const started: Board[] = [];
    for (const role of [SERVER, WORKER, WORKER])
      started.push(withoutPolling(await replicas.start(config(couriers), { files: QUEUED, role, clock })));
    boards = started as typeof boards;
    outside = boards.map(({ http }) => new Outside(http)) as typeof outside;
  });

  afterAll(async () => {
    await replicas.close();
    await couriers.close();
  });

  it('are claimed at one, renewed at another, and completed at the third', async () => {
    const parcel = await boards[1].publish('Parcel', { n: 1 });
    const held = await outside[0].claimOne({ agents: ['packer'] });
    expect(await outside[1].claim({ agents: ['packer'] })).toEqual([]);
    expect(await outside[1].send(held, 'heartbeat')).toMatchObject({ status: 200 });
    expect(await outside[2].send(held, 'complete', { output: {} })).toMatchObject({ status: 200 });
    expect(await outside[0].send(held, 'complete', { output: {} })).toMatchObject({ status: 200 });
    expect(await boards[0].ended(parcel)).toMatchObject({ state: 'completed' });
    expect(await boards[0].types(parcel)).toEqual(['Parcel', 'Packed', 'Label']);
  });

  it('go to waiting claims at any process, and to as many as the concurrency allows', async () => {
    const waiting = outside.map((each) => each.claim({ agents: ['packer'], wait: 60 }));
    const parcels = [];
    for (const board of boards) parcels.push(await board.publish('Parcel', { n: 2 }));
    const answered: Held[] = [];
    for (const claim of waiting) void claim.then((held) => answered.push(...held));
    await eventually('two are held', () => answered.length === 2);
    expect(await outside[1].claim({ agents: ['packer'] })).toEqual([]);
    for (let next = 0; next < 3; next += 1) {
      await eventually('the next one is held', () => answered.length > next);
      expect(await outside[(next + 1) % 3]!.send(answered[next]!, 'complete', { output: {} })).toMatchObject({
        status: 200,
      });
    }
    await Promise.all(waiting);
    expect(answered.map(({ correlation_id }) => correlation_id).sort()).toEqual(parcels.sort());
  });

  it('are taken back once, by the first process that notices the expired lease, and fail once when they are due', async () => {
    const parcel = await boards[0].publish('Parcel', { n: 3 });
    const lost = await outside[0].claimOne({ agents: ['packer'] });
    let again: Held | undefined;
    // The time moves in steps, because a check that is under way does not see that the time changes.
    await eventually('it waits again', async () => {
      clock.advance(20_000);
      return ([again] = await outside[2].claim({ agents: ['packer'] })).length > 0;
    });
    expect(again).toMatchObject({ execution_id: lost.execution_id, attempt: 1 });
    expect(await outside[1].send(lost, 'complete', { output: {} })).toMatchObject({ status: 409 });
    expect(await outside[1].execution(lost.execution_id)).toMatchObject({ lost_leases: 1 });
    clock.advance(600_000);
    expect(await boards[1].ended(parcel)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await outside[0].send(again!, 'complete', { output: {} })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('it was due at') },
    });
  });

  it('are taken back from workers of a process that has ended, and become due as before', async () => {
    const gone = await replicas.start(config(couriers), { files: QUEUED, role: WORKER, clock });
    const parcel = await gone.publish('Parcel', { n: 4 });
    const lost = await new Outside(gone.http).claimOne({ agents: ['packer'] });
    await gone.close();
    expect(await outside[1].send(lost, 'heartbeat')).toMatchObject({ status: 200 });
    let again: Held | undefined;
    await eventually('it waits again', async () => {
      clock.advance(20_000);
      return ([again] = await outside[0].claim({ agents: ['packer'] })).length > 0;
    });
    expect(again).toMatchObject({ execution_id: lost.execution_id, attempt: 1 });
    expect(await outside[2].execution(lost.execution_id)).toMatchObject({ state: 'running', lost_leases: 1 });
    clock.advance(600_000);
    // Only the regular check finds a time that another process has set.
    boards[1].app.app.get(TimerLoop, { strict: false }).lookAtAll();
    expect(await boards[2].ended(parcel)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await outside[2].execution(lost.execution_id)).toMatchObject({ state: 'failed', error_type: 'overdue' });
  });

  it('go to a claim that waits at another process when they are released', async () => {
    const parcel = await boards[1].publish('Parcel', { n: 6 });
    const held = await outside[1].claimOne({ agents: ['packer'] });
    const arrived = once(boards[0].app.app.getHttpServer() as NodeJS.EventEmitter, 'request');
    const waiting = outside[0].claim({ agents: ['packer'], wait: 60 });
    await arrived;
    expect(await outside[2].send(held, 'release')).toMatchObject({ status: 200, body: { lost_leases: 0 } });
    const [again] = await waiting;
    expect(again).toMatchObject({ execution_id: held.execution_id, correlation_id: parcel, attempt: 1 });
    expect(await outside[1].send(again!, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });

  it('that a remote agent answers later are completed at a process that runs none, and the next one follows', async () => {
    couriers.on('/courier', answers(202, { location: '/later' }));
    const letters = [await boards[0].publish('Letter', { n: 1 }), await boards[1].publish('Letter', { n: 2 })];
    for (const [n, letter] of letters.entries()) {
      await eventually('the agent is asked', () => couriers.received.length === n + 1);
      const { headers } = couriers.received[n]!;
      const held = {
        execution_id: requestIn(couriers.received[n]!).execution_id,
        lease_token: headers['starling-lease-token'] as string,
      };
      await eventually(
        'it is left to it',
        async () => (await outside[0].execution(held.execution_id)).lease_until !== null,
      );
      expect(await outside[0].send(held, 'heartbeat')).toMatchObject({ status: 200 });
      expect(await outside[0].send(held, 'complete', { output: {} })).toMatchObject({ status: 200 });
      expect(await outside[2].send(held, 'complete', { output: {} })).toMatchObject({ status: 200 });
      expect(await boards[0].ended(letter)).toMatchObject({ state: 'completed' });
      expect(await boards[0].types(letter)).toEqual(['Letter', 'Delivered']);
    }
  });

  it('cannot be claimed while another transaction locks the chosen one, and the answer says so', async () => {
    await boards[1].publish('Parcel', { n: 7 });
    const { items } = (await boards[0].http.get('/api/v1/executions?agent=packer&state=pending').expect(200)).body as {
      items: { id: string }[];
    };
    const id = items[0]!.id;
    const other = new Client(boards[0].app.database.url);
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select 1 from executions where id = $1 for update', [id]);
      const detail = `Execution ${id} cannot be claimed now: another request is changing it now; try again`;
      await boards[0].http.post(`/api/v1/executions/${id}/claim`).send({}).expect(409, { detail });
    } finally {
      await other.end();
    }
    const { body } = await boards[0].http.post(`/api/v1/executions/${id}/claim`).send({}).expect(200);
    expect(await outside[1].send(body as Held, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });

  it('go to the new assignee, even if that claim waits at another process than the one that escalates', async () => {
    const check = await boards[1].publish('Check', { n: 5 });
    clock.advance(29 * 60_000 + 15_000);
    const arrived = once(boards[0].app.app.getHttpServer() as NodeJS.EventEmitter, 'request');
    const waiting = outside[0].claim({ agents: ['checker'], assignee: 'head', wait: 60 });
    await arrived;
    expect(await outside[2].claim({ agents: ['checker'], assignee: 'head' })).toEqual([]);
    clock.advance(45_000);
    const held = await waiting;
    expect(held).toMatchObject([{ correlation_id: check, assignee: 'head', attempt: 1 }]);
    expect(await outside[1].send(held[0]!, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });
});
