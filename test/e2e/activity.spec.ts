import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { ManualClock } from '../support/manual-clock.js';
import type { Activity } from './activity-model.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  idle:
    consumes: [{ types: [Never] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: 'null' }
  echo:
    consumes: [{ types: [Call] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: 'null' }
`;

const HOUR_MS = 3_600_000;

/** Uses applications, one after the other on one database, and HTTP. The clock stands still until a test moves it. */
describe('the activity of agents across restarts', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let database: TestDatabase;
  let board: Board;

  const start = async (): Promise<void> => void (board = await Board.start(CONFIG, { clock, folder: folder.path }));
  const call = async (): Promise<unknown> => board.publishSync('Call', {});
  const activity = async (query: object): Promise<Activity> =>
    (await board.http.get('/api/v1/activity').query(query).expect(200)).body as Activity;

  beforeAll(async () => {
    database = await databaseOf(folder.path);
    await start();
  });

  afterAll(async () => {
    await board.close();
    await database.drop();
    folder.remove();
  });

  it('is counted from the start of the first process on, and a restart changes nothing', async () => {
    const since = new Date(clock.now()).toISOString();
    await call();
    clock.advance(HOUR_MS);
    await board.close();
    await start();
    await call();
    const { total, ...answer } = await activity({ window: '24h', step: '1h' });
    expect(answer.since).toBe(since);
    expect(total).toMatchObject({ starts: 2, ends: 2 });
    expect(total.steps.map(({ ends }) => ends)).toEqual([1, 1]);
  });

  it('has no agent that did nothing', async () => {
    const { agents, total } = await activity({ agent: 'idle' });
    expect(agents).toEqual([]);
    expect(total).toMatchObject({ starts: 0, ends: 0, failures: 0, retries: 0, duration_ms: null, queue_ms: null });
    expect((await activity({ window: '24h' })).agents.map(({ agent }) => agent)).toEqual(['echo']);
  });

  it('leaves out what an earlier version did, and counts what it left behind', async () => {
    clock.advance(HOUR_MS);
    await asEarlierVersion();
    await board.close();
    clock.advance(HOUR_MS);
    await start();
    await call();
    const { since, total } = await activity({ window: '24h', step: '1h' });
    expect(since).toBe(new Date(clock.now()).toISOString());
    expect(total).toMatchObject({ starts: 1, ends: 1 });
    expect(total.steps).toHaveLength(1);
    await board.app.app.get(Rollups, { strict: false }).run();
    expect((await activity({ window: '7d' })).total).toMatchObject({ starts: 1, ends: 1 });
    // Its hours are complete, with those that were not rolled up.
    const { body } = await board.http.get('/api/v1/agents/echo/history-summary').expect(200);
    expect(body).toMatchObject({ summary: { total_executions: 4 } });
  });

  /** Leaves the database as a version that did not count events leaves it, with a row that is not rolled up. */
  const asEarlierVersion = (): Promise<void> =>
    board.app.app.get(UnitOfWork, { strict: false }).run(async ({ db }) => {
      const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS;
      await db.deleteFrom('activity_since').execute();
      await db.deleteFrom('activity_counts').execute();
      await db.updateTable('activity').set({ event: null, minute: null, bucket: null, events: 0 }).execute();
      await db
        .insertInto('activity')
        .values({ agent: 'echo', hour, executions: 1, failures: 0, artifacts_consumed: 1, artifacts_produced: 0 })
        .execute();
    });
});
