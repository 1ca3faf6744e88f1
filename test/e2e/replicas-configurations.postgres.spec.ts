import { Leases } from '../../src/blackboard/execution/leases.js';
import { TimerLoop } from '../../src/blackboard/timers/timer-loop.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { answers, Receiver } from '../support/receiver.js';
import { inTurn, replies } from '../support/remote-agent.js';
import { ended, finish, GATE, gatesOf, orders, send, show, started } from './batch-board.js';
import type { Board } from './board.js';
import type { MissingAgentsStatus } from './missing-agents-board.js';
import { Outside } from './outside.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const MINUTE = 60_000;
const LEASE_MS = 30 * MINUTE;

const OLD = `
agents:
  echo:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Echo }]
    engine: { kind: function, module: ./echo.js }
`;

const NEW = `${OLD}
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 2
    timeout: 24h
  hurried:
    consumes: [{ types: [Question, Answer], join: { within: 5m } }]
    publishes: [{ type: Asked }]
    engine: { kind: expression, expression: '{"n": payload.Question.n}' }
  packer:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Packed }]
    engine: { kind: external }
    retry: { attempts: 2 }
  window:
    consumes: [{ types: [Event], batch: { size: 100, timeout: 20s } }]
    publishes: [{ type: Digest }]
    engine: { kind: expression, expression: '{"events": payload.map(event, event.n)}' }
`;

const FILES = { ...QUEUED, 'gate.js': GATE };

/** Returns the agents that no process has and that executions wait for. */
const lackingOf = async (board: Board, correlation: string): Promise<string[] | undefined> =>
  ((await board.status(correlation)) as MissingAgentsStatus).waiting_for_agents;

/** Returns the answer to a request to fail what waits for `gate`. */
const removal = async (board: Board): Promise<number> =>
  (await board.http.post('/api/v1/executions/fail').send({ agent: 'gate' })).status;

/**
 * Uses two apps over HTTP on one Postgres, while one configuration replaces another; only the newer one has all agents.
 * The clock is faked and shared by both.
 */
describe('two processes with different configurations', () => {
  let replicas: Replicas;
  let clock: ManualClock;
  let older: Board;
  let newer: Board;

  const start = (config: string): Promise<Board> =>
    replicas.start(config, { files: FILES, role: WORKER, clock, settings: { leaseMs: LEASE_MS } });

  beforeEach(async () => {
    replicas = new Replicas();
    clock = new ManualClock();
    newer = await start(NEW);
    older = await start(OLD);
  });

  afterEach(() => replicas.close());

  /** Advances the clock by several registrations, no faster than both can renew theirs. */
  async function passTime(ms: number): Promise<void> {
    const end = clock.now() + ms;
    await eventually('time has passed', async () => {
      const processes = await older.app.database.rows<{ seen_until: number }>('select seen_until from processes');
      expect(processes).toHaveLength(2);
      if (processes.every(({ seen_until }) => seen_until > clock.now() + 3 * MINUTE)) clock.advance(MINUTE);
      return clock.now() >= end;
    });
  }

  it('leave work that one of them does not know to the other, for as long as that one lives', async () => {
    const ids: string[] = [];
    for (const order of orders(5, { batch: 'alive' })) ids.push(await newer.publish('Gated', order));
    await started('alive', 2);
    await passTime(2 * LEASE_MS);
    for (const id of ids) expect(await older.status(id)).toMatchObject({ state: 'active', error_count: 0 });
    for (let count = 1; count <= 5; count += 1) {
      await started('alive', count);
      gatesOf('alive')[count - 1]!.open();
    }
    for (const id of ids)
      expect(await older.ended(id)).toMatchObject({ state: 'completed', error_count: 0, artifact_count: 2 });
  });

  it('leave the work after a failed attempt to the other', async () => {
    await newer.publish('Parcel', { n: 1 });
    const held = await new Outside(newer.http).claimOne({ agents: ['packer'] });
    const failure = { error_message: 'the box is torn' };
    const refused = await new Outside(older.http).send(held, 'fail', failure);
    expect([refused.status, refused.body.detail]).toEqual([
      503,
      expect.stringContaining('does not have the agent packer'),
    ]);
    expect(await new Outside(newer.http).send(held, 'fail', failure)).toMatchObject({
      status: 200,
      body: { state: 'pending', attempt: 2 },
    });
  });

  it('leave a batch of an agent that one of them does not know to the other', async () => {
    const id = await send(newer, 'gate', orders(6, { batch: 'rows' }));
    await started('rows', 1);
    await passTime(2 * LEASE_MS);
    expect((await older.http.get(`/batch/${id}`).expect(200)).body).toMatchObject({
      status: 'running',
      failed_items: 0,
    });
    await finish(older, [id], ['rows']);
    expect(await ended(older, id)).toMatchObject({ status: 'completed', completed_items: 6, failed_items: 0 });
  });

  it('refuse a run of an agent that the asked process does not know', async () => {
    const { status, body } = await older.http.post('/run/flock').send({ agent_name: 'gate', inputs: { n: 1 } });
    expect([status, (body as { detail: string }).detail]).toEqual([404, expect.stringContaining('gate')]);
  });

  it('keep work waiting when the only process that knew its agent has left, until another one has the agent', async () => {
    const execution = await newer.publish('Gated', { n: 1, batch: 'left' });
    const batch = await send(newer, 'gate', orders(5, { batch: 'rows left' }));
    const event = await newer.publish('Event', { n: 1 });
    await started('left', 1);
    await newer.close();
    expect(await older.status(execution)).toMatchObject({ state: 'active', error_count: 0 });

    await eventually(
      'they are known to have no process',
      async () => (await lackingOf(older, execution)) !== undefined && (await lackingOf(older, event)) !== undefined,
    );
    clock.advance(LEASE_MS);
    expect([await lackingOf(older, execution), await lackingOf(older, event)]).toEqual([['gate'], ['window']]);
    expect(await show(older, batch)).toMatchObject({
      status: 'running',
      failed_items: 0,
      waiting_for_agents: ['gate'],
    });
    expect(await older.ended(await older.publish('Message', { n: 1 }))).toMatchObject({ state: 'completed' });

    const again = await start(NEW);
    await eventually('the batch has finished', async () => {
      [...gatesOf('left'), ...gatesOf('rows left')].forEach((gate) => gate.open());
      return (await show(again, batch)).status !== 'running';
    });
    expect(await show(older, batch)).toMatchObject({ status: 'completed', failed_items: 0 });
    for (const id of [execution, event])
      expect(await older.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
  });
});

/** Uses two apps over HTTP on one Postgres, one of which runs executions. The clock is faked and shared by both. */
describe('an agent that only processes without workers have', () => {
  let replicas: Replicas;
  let server: Board;
  let worker: Board;

  beforeEach(async () => {
    replicas = new Replicas();
    const options = {
      files: FILES,
      clock: new ManualClock(),
      settings: { leaseMs: LEASE_MS, maxPendingExecutions: 1 },
    };
    server = await replicas.start(NEW, { ...options, role: SERVER });
    worker = await replicas.start(OLD, { ...options, role: WORKER });
  });

  afterEach(() => replicas.close());

  it('counts as missing if it is an internal one: its work takes no place of other work, and can be failed', async () => {
    const id = await server.publish('Gated', { n: 1, batch: 'unworked' });
    for (const board of [server, worker])
      await eventually(
        'it is known that no process runs it',
        async () => (await lackingOf(board, id))?.includes('gate') === true,
      );
    const [artifact] = await server.artifacts(id);
    expect(
      JSON.stringify((await server.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200)).body),
    ).toContain('since no process has the agent gate');
    // There is one place, which it has until the next count.
    await eventually('it is counted', async () =>
      (await server.http.get('/metrics')).text.includes('\nstarling_queue_depth 0\n'),
    );
    const other = await server.publish('Message', { n: 1 });
    expect(await worker.ended(other)).toMatchObject({ state: 'completed' });
    // It is configured, so that it can be paused before a process runs it.
    await server.http.post('/api/v1/agents/gate/pause').expect(200);
    expect(await removal(server)).toBe(200);
    expect(await server.ended(id)).toMatchObject({ state: 'failed', error_count: 1 });
  });

  it('counts as present if it is an external one: workers claim its executions', async () => {
    const id = await server.publish('Parcel', { n: 1 });
    expect((await worker.http.post('/api/v1/executions/fail').send({ agent: 'packer' })).status).toBe(409);
    expect(await lackingOf(worker, id)).toBeUndefined();
    const held = await new Outside(server.http).claimOne({ agents: ['packer'] });
    expect(await new Outside(server.http).send(held, 'complete', { output: { ok: true } })).toMatchObject({
      status: 200,
    });
    expect(await worker.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
  });
});

/**
 * Uses two apps as above. The clocks are faked, one for each app, so that a test decides which of them notices the time
 * first.
 */
describe('groups that wait for an agent which only one of two processes has', () => {
  it('are left to that process by the other', async () => {
    const replicas = new Replicas();
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const start = (config: string, clock: ManualClock): Promise<Board> =>
      replicas.start(config, { files: FILES, role: WORKER, clock, settings: { leaseMs: LEASE_MS } });
    try {
      const newer = await start(NEW, clocks[0]);
      const older = await start(OLD, clocks[1]);
      const questions: string[] = [];
      const events: string[] = [];
      // More than the timers that are fired in one transaction.
      for (let n = 0; n < 25; n += 1) questions.push(await newer.publish('Question', { n }));
      for (let n = 0; n < 3; n += 1) events.push(await newer.publish('Event', { n }));
      const own = await older.publish('Message', { n: 1 }, { visibility: { kind: 'After', ttl: 'PT6M' } });

      clocks[1].advance(10 * MINUTE);
      older.app.app.get(TimerLoop, { strict: false }).lookAtAll();
      await eventually('it has fired its own timers', async () => (await older.status(own)).state === 'completed');
      for (const id of [...questions, ...events])
        expect(await older.status(id)).toMatchObject({ state: 'active', error_count: 0 });

      clocks[0].advance(10 * MINUTE);
      for (const id of questions) {
        expect(await newer.ended(id)).toMatchObject({ state: 'failed', error_count: 1 });
        expect((await newer.artifacts(id)).at(-1)).toMatchObject({ payload: { error_type: 'join_expired' } });
      }
      for (const id of events) expect(await newer.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
      expect((await newer.artifacts(events[2]!)).at(-1)).toMatchObject({
        type: 'Digest',
        payload: { events: [0, 1, 2] },
      });
    } finally {
      await replicas.close();
    }
  });
});

const configurationWith = (agents: Receiver): string => `${OLD}
  responder:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: http, url: "${agents.url('/responder')}" }
    timeout: 10s
    retry: { attempts: 2, delay: 1s }
`;

interface Execution {
  id: string;
  state: string;
  attempt: number;
  lost_leases: number;
  lease_until: string | null;
  attempts: { error_type: string | null }[];
}

/**
 * Uses two apps on one Postgres, and a server as remote agent. The clocks are faked, one for each app, so that a test
 * decides which of them notices the time first.
 */
describe('a deferred answer to the only process that has the agent', () => {
  it('is timed out by that process, as a failed attempt, and not by the other', async () => {
    const replicas = new Replicas();
    const agents = await Receiver.start();
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const start = (config: string, clock: ManualClock): Promise<Board> =>
      replicas.start(config, { files: FILES, role: WORKER, clock, settings: { leaseMs: LEASE_MS } });
    try {
      const newer = await start(configurationWith(agents), clocks[0]);
      const older = await start(OLD, clocks[1]);
      agents.on('/responder', inTurn(answers(202, { location: '/later' }), replies({ n: 1 })));
      const correlation = await newer.publish('Question', { n: 1 });
      const execution = async (): Promise<Execution> => {
        const { items } = (await older.http.get('/api/v1/executions?agent=responder').expect(200)).body as {
          items: Execution[];
        };
        return (await older.http.get(`/api/v1/executions/${items[0]!.id}`).expect(200)).body as Execution;
      };
      await eventually('the attempt is left to the agent', async () => (await execution()).lease_until !== null);

      clocks[1].advance(MINUTE);
      await older.app.app.get(Leases, { strict: false }).rows.takeOverLost();
      expect(await execution()).toMatchObject({ state: 'running', attempt: 1, lost_leases: 0 });

      clocks[0].advance(MINUTE);
      await eventually('the attempt has failed', async () => (await execution()).attempt === 2);
      clocks[0].advance(MINUTE);
      expect(await newer.ended(correlation)).toMatchObject({ state: 'completed' });
      expect(await execution()).toMatchObject({
        lost_leases: 0,
        attempts: [{ error_type: 'timeout' }, { error_type: null }],
      });
    } finally {
      await replicas.close();
      await agents.close();
    }
  });
});

/**
 * Uses two apps as above. The clocks are faked, and one of them stands still, as that of a process that disappeared.
 */
describe('a process that vanishes with the only configuration that has an agent', () => {
  it('is waited for until its registration expires', async () => {
    const replicas = new Replicas();
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const start = (config: string, clock: ManualClock): Promise<Board> =>
      replicas.start(config, { files: FILES, role: WORKER, clock, settings: { leaseMs: LEASE_MS } });
    try {
      // A process that is gone continues no operations; this one would find its own agent, and end the removal.
      const gone = withoutPolling(await start(NEW, clocks[0]));
      const ids: string[] = [];
      for (const order of orders(5, { batch: 'vanished' })) ids.push(await gone.publish('Gated', order));
      await started('vanished', 2);
      const older = await start(OLD, clocks[1]);
      const registeredUntil = async (): Promise<number> =>
        (await older.app.database.rows<{ until: number }>('select max(seen_until) as until from processes'))[0]!.until;
      const until = await registeredUntil();
      // A third of a lease, after which it checks the others.
      clocks[1].advance(LEASE_MS / 3);
      await eventually('it registers again', async () => (await registeredUntil()) > until);
      for (const id of ids) expect(await lackingOf(older, id)).toBeUndefined();
      expect(await removal(older)).toBe(409);

      clocks[1].advance(LEASE_MS);
      for (const id of ids)
        await eventually(
          'the agent is known to have no process',
          async () => (await lackingOf(older, id)) !== undefined,
        );
      for (const id of ids) expect(await older.status(id)).toMatchObject({ state: 'active', error_count: 0 });
      expect(await removal(older)).toBe(200);
      for (const id of ids) expect(await older.ended(id)).toMatchObject({ state: 'failed', error_count: 1 });
      for (const id of ids)
        expect((await older.artifacts(id)).at(-1)).toMatchObject({
          type: 'WorkflowError',
          payload: { error_type: 'agent_removed' },
        });
    } finally {
      await replicas.close();
    }
  });
});
