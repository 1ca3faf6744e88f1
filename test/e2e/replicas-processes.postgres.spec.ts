import type { ProcessBody, ProcessesBody } from '../../src/features/processes/dto/processes-body.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { Board } from './board.js';
import type { MissingAgentsStatus } from './missing-agents-board.js';
import { Replicas, SERVER, withoutPolling } from './replica-boards.js';

const LEASE_MS = 30_000;

const agents = (...names: string[]): string =>
  `agents:\n${names.map((name) => `  ${name}: { consumes: [{ types: [${name[0]!.toUpperCase()}${name.slice(1)}] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": 1}' } }`).join('\n')}\n`;

const listed = async (board: Board): Promise<ProcessBody[]> =>
  ((await board.http.get('/api/v1/processes').expect(200)).body as ProcessesBody).processes;

/**
 * Uses several apps over HTTP on one Postgres. The clocks are faked, and one of them stands still, as that of a process
 * that disappeared.
 */
describe('the live processes on one Postgres', () => {
  let replicas: Replicas;

  beforeEach(() => {
    replicas = new Replicas();
  });

  afterEach(() => replicas.close());

  it('are listed by each of them, until they leave or have been silent for a lease', async () => {
    const clocks = [new ManualClock(), new ManualClock()] as const;
    const settings = { leaseMs: LEASE_MS };
    const first = await replicas.start(agents('price'), { clock: clocks[0], settings });
    const silent = await replicas.start(agents('price', 'tax'), { clock: clocks[1], settings });
    const server = await replicas.start(agents('price'), { clock: clocks[0], role: SERVER, settings });
    for (const board of [first, silent, server]) {
      expect((await listed(board)).map(({ roles, agents: names }) => [roles, names])).toEqual([
        [['server', 'worker'], ['price']],
        [
          ['server', 'worker'],
          ['price', 'tax'],
        ],
        // It runs no executions.
        [['server'], []],
      ]);
    }
    const [one, two, three] = await listed(first);
    expect(one!.configuration).toBe(three!.configuration);
    expect(one!.configuration).not.toBe(two!.configuration);

    await server.close();
    expect(await listed(first)).toHaveLength(2);
    // No faster than the living one can renew its registration.
    await eventually('the other one is removed', async () => {
      const processes = await listed(first);
      const own = processes.find(({ id }) => id === one!.id);
      if (own && clocks[0].now() - Date.parse(own.last_heartbeat_at!) < LEASE_MS / 2) clocks[0].advance(1_000);
      return processes.length === 1;
    });
    expect((await listed(first)).map(({ id }) => id)).toEqual([one!.id]);

    // It was only silent.
    clocks[1].advance(2 * LEASE_MS);
    await eventually('it is back', async () => (await listed(first)).some(({ id }) => id === two!.id));
  });

  it('notify each other when an agent comes or goes', async () => {
    const clock = new ManualClock();
    const first = withoutPolling(await replicas.start(agents('price'), { clock }));
    const second = await replicas.start(agents('price', 'tax'), { clock });
    await second.http.post('/api/v1/agents/tax/pause').expect(200);
    const tax = await second.publish('Tax', {});
    const lacking = async (): Promise<string[] | undefined> =>
      ((await first.status(tax)) as MissingAgentsStatus).waiting_for_agents;
    expect(await lacking()).toBeUndefined();
    await second.close();
    await eventually('the first one says so', async () => (await lacking()) !== undefined);
    await eventually('the first one has logged it', () =>
      first.app.logLines.some(
        ({ level, agents: names }) => level === 40 && names !== undefined && 'tax' in (names as object),
      ),
    );

    const third = await replicas.start(agents('tax'), { clock });
    await third.http.post('/api/v1/agents/tax/resume').expect(200);
    expect(await third.ended(tax)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await lacking()).toBeUndefined();
  });
});
