import { claimLockKey } from '../../src/blackboard/scheduling/agent-pauses.js';
import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import type { Board } from './board.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const configOf = (app: string): string => `
agents:
  counted: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], engine: { kind: function, module: ./counted-${app}.js }, concurrency: 4 }
  other: { consumes: [{ types: [Order] }], publishes: [{ type: Noted }], engine: { kind: function, module: ./echo.js } }
`;

/** Records its start, in memory that the apps share. */
const COUNTED = `globalThis.pausedStarts ??= [];
export default async ([{ payload }]) => {
  globalThis.pausedStarts.push(payload.n);
  await new Promise((resolve) => setTimeout(resolve, 2));
  return { n: payload.n };
};`;

const starts = (): number[] => (globalThis as unknown as { pausedStarts?: number[] }).pausedStarts ?? [];

/** Uses three apps over HTTP on one Postgres, one of which runs no executions. Only their wake-ups connect them. */
describe('an agent that is paused on one process of several', () => {
  const replicas = new Replicas();
  const random = new Random(printedSeed());
  let boards: [server: Board, one: Board, other: Board];

  beforeAll(async () => {
    const started: Board[] = [];
    for (const [app, role] of [
      ['server', SERVER],
      ['one', WORKER],
      ['other', WORKER],
    ] as const) {
      started.push(
        withoutPolling(
          await replicas.start(configOf(app), { files: { ...QUEUED, [`counted-${app}.js`]: COUNTED }, role }),
        ),
      );
    }
    boards = started as typeof boards;
  });

  afterAll(() => replicas.close());

  const anyOf = (): Board => boards[random.between(0, 2)]!;

  it('is claimed on none after the answer, and starts again on all as soon as it is resumed', async () => {
    let n = 0;
    const publish = (count: number): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, () => anyOf().publish('Order', { n: n++ })));
    for (let round = 0; round < 3; round += 1) {
      const [by, then] = [anyOf(), anyOf()];
      const [early] = await Promise.all([publish(20), by.http.post('/api/v1/agents/counted/pause').expect(200)]);
      const claimed = await claimedCount(by);
      const late = await publish(5);
      for (const order of late)
        await eventually('the other agent has run', async () => (await by.types(order)).includes('Noted'));
      expect(await claimedCount(by)).toBe(claimed);
      expect((await then.http.get('/api/v1/agents').expect(200)).body).toMatchObject({
        agents: [
          { name: 'counted', paused: true },
          { name: 'other', paused: false },
        ],
      });

      await then.http.post('/api/v1/agents/counted/resume').expect(200);
      for (const order of [...early, ...late]) expect(await by.ended(order)).toMatchObject({ state: 'completed' });
    }
    expect(starts().sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, order) => order));
  });

  it('is paused only when every claim that may not have seen it has been committed', async () => {
    const [server] = boards;
    let isPaused = false;
    await connected(server.app.database.url, async (claim) => {
      await claim.query('begin');
      await claim.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [claimLockKey('counted')]);
      const pausing = server.http.post('/api/v1/agents/counted/pause').then(() => (isPaused = true));
      const isWaiting = async () =>
        (
          await claim.query(
            'select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())',
          )
        ).rowCount! > 0;
      await eventually('the pause waits', isWaiting);
      expect(isPaused).toBe(false);
      await claim.query('commit');
      await pausing;
    });
    await server.http.post('/api/v1/agents/counted/resume').expect(200);
  });

  it('is answered only when every transaction that may have started an execution without a claim has ended', async () => {
    const [server] = boards;
    let isAnswered = false;
    await connected(server.app.database.url, async (publish) => {
      await publish.query('begin');
      await publish.query('lock table executions in row exclusive mode');
      const pausing = server.http.post('/api/v1/agents/counted/pause').then(() => (isAnswered = true));
      const isStored = async () => (await publish.query('select 1 from agent_pauses')).rowCount! > 0;
      await eventually('the pause is stored', isStored);
      // A read that began later than the pause has been answered.
      await server.http.get('/api/v1/agents').expect(200);
      expect(isAnswered).toBe(false);
      await publish.query('commit');
      await pausing;
    });
    await server.http.post('/api/v1/agents/counted/resume').expect(200);
  });

  it('may exist only on another process', async () => {
    const configuration = configOf('stranger')
      .replace('counted:', 'foreign:')
      .replaceAll('Order', 'Foreign')
      .replace(/ {2}other:.*\n/, '');
    const stranger = withoutPolling(
      await replicas.start(configuration, { files: { 'counted-stranger.js': COUNTED }, role: WORKER }),
    );
    const [server] = boards;
    expect((await server.http.post('/api/v1/agents/foreign/pause').expect(200)).body).toMatchObject({
      name: 'foreign',
      paused: true,
    });
    const order = await stranger.publish('Foreign', { n: -1 });
    expect((await stranger.http.get('/api/v1/agents').expect(200)).body).toMatchObject({
      agents: [{ name: 'foreign', paused: true }],
    });
    expect((await stranger.status(order)).state).toBe('active');
    await server.http.post('/api/v1/agents/foreign/resume').expect(200);
    expect(await stranger.ended(order)).toMatchObject({ state: 'completed' });
  });
});

async function claimedCount(board: Board): Promise<number> {
  const rows = await board.app.database.rows<{ count: string }>(
    `select count(*) from executions where agent = 'counted' and claim is not null`,
  );
  return Number(rows[0]!.count);
}
