import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const FORWARD = "publishes: [{ type: Ended }], engine: { kind: expression, expression: '{}' }";

const CONFIG = `
limits:
  desk: { concurrency: 1 }
  machine: { concurrency: 1, hold: true }
  printer: { concurrency: 1 }
  line: { rate: 1/1h }
agents:
  person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } }
  clerk: { consumes: [{ types: [Form] }], limits: [desk], ${FORWARD} }
  operator: { consumes: [{ types: [Job] }], limits: [machine], engine: { kind: external } }
  engineer: { consumes: [{ types: [Repair] }], limits: [machine], ${FORWARD} }
  writer: { consumes: [{ types: [Draft] }], limits: [printer], engine: { kind: external } }
  typist: { consumes: [{ types: [Letter] }], limits: [printer], ${FORWARD} }
  caller: { consumes: [{ types: [Call] }], limits: [line], engine: { kind: external } }
  packer: { consumes: [{ types: [Parcel] }], timeout: 60s, engine: { kind: external } }
  turn:
    consumes: [{ types: [Turn], where: payload.by == 'person' }]
    singleton: { key: payload.key, on_conflict: queue }
    engine: { kind: external }
`;

const MINUTE = 60_000;
/** The regular look for lost leases comes every third of it. */
const LEASE = 600 * MINUTE;

/**
 * One process answers requests and has no worker role, and another one is the worker. The clock stands still and nothing is
 * polled, so only what the first one says wakes the second one.
 */
describe('work that ends at a process without the worker role', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();
  let server: Board;
  let worker: Board;
  let outside: Outside;

  beforeAll(async () => {
    const start = (role: typeof SERVER) => replicas.start(CONFIG, { role, clock, settings: { leaseMs: LEASE } });
    server = withoutPolling(await start(SERVER));
    worker = withoutPolling(await start(WORKER));
    outside = new Outside(server.http);
  });

  afterAll(() => replicas.close());

  const waits = (correlation: string, what: RegExp): Promise<void> =>
    eventually(`${correlation} waits for ${what}`, async () => {
      const { body } = await server.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return what.test((body as { items: { limit: string | null }[] }).items[0]?.limit ?? '');
    });

  /** The time stands still, so this waits until one can be claimed. */
  const claimOne = (agent: string): Promise<Held> => outside.claimOne({ agents: [agent], wait: 60 });

  const ends = async (correlation: string): Promise<void> =>
    expect(await worker.ended(correlation)).toMatchObject({ state: 'completed' });

  it.each([
    ['complete', { outputs: [] }],
    ['fail', { error_type: 'unreadable', error_message: 'it cannot be read', final: true }],
    ['release', {}],
  ] as const)('lets the next one of its limit start immediately after %s', async (what, body) => {
    const task = await server.publish('Task', {});
    const held = await claimOne('person');
    const form = await server.publish('Form', {});
    await waits(form, /^limit desk: 1 of 1 used/);
    expect(await outside.send(held, what, body)).toMatchObject({ status: 200 });
    await ends(form);
    await server.http.post(`/api/v1/correlations/${task}/cancel`);
  });

  it('lets the next one of a limit with hold start immediately after a cancel', async () => {
    const job = await server.publish('Job', {});
    const held = await claimOne('operator');
    expect(await outside.send(held, 'release', {})).toMatchObject({ status: 200 });
    const repair = await server.publish('Repair', {});
    await waits(repair, /^limit machine: 1 of 1 used/);
    await server.http.post(`/api/v1/correlations/${job}/cancel`).expect(200);
    await ends(repair);
  });

  it('lets those of a limit start immediately that it has changed', async () => {
    await server.publish('Draft', {});
    await claimOne('writer');
    const letter = await server.publish('Letter', {});
    await waits(letter, /^limit printer: 1 of 1 used/);
    await server.http.put('/api/v1/limits/printer').send({ concurrency: 2 }).expect(200);
    await ends(letter);
  });

  it('passes the turn of its key on immediately', async () => {
    const first = await server.publish('Turn', { by: 'person', key: 'a' });
    const second = await server.publish('Turn', { by: 'person', key: 'a' });
    const held = await claimOne('turn');
    expect(held.correlation_id).toBe(first);
    expect(await outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
    expect((await claimOne('turn')).correlation_id).toBe(second);
  });

  it('says when the rate of a limit has room', async () => {
    for (const n of [1, 2]) await server.publish('Call', { n });
    await claimOne('caller');
    expect(await outside.claim({ agents: ['caller'] })).toEqual([]);
    clock.advance(61 * MINUTE);
    await claimOne('caller');
  });

  it('says when the lease of a claim ends', async () => {
    const parcel = await server.publish('Parcel', {});
    const lost = await claimOne('packer');
    clock.advance(2 * MINUTE);
    const again = await claimOne('packer');
    expect(again).toMatchObject({ execution_id: lost.execution_id, correlation_id: parcel });
    expect(await outside.execution(lost.execution_id)).toMatchObject({ lost_leases: 1 });
  });
});
