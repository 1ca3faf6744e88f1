import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { queryOnce } from '../support/postgres-cluster.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const HOUR = 3_600_000;
const config = (schedules: string): string => `
agents:
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: '{"n": 1}' } }
${schedules === '' ? '' : `schedules:\n${schedules}`}`;
const NAMES = Array.from({ length: 10 }, (_, index) => `s${index}`);
const TEN = NAMES.map((name) => `  ${name}: { every: 1h, publishes: { type: Due } }`).join('\n');

interface Row {
  schedule: string;
  state: string;
}

/**
 * Uses apps over HTTP on one Postgres. The clock is faked and shared by them, so that they find the same ticks due at the
 * same moment. Leases outlast every step of it.
 */
describe('several processes with the same schedules', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();
  const start = (schedules: string): Promise<Board> =>
    replicas.start(config(schedules), { clock, role: WORKER, settings: { leaseMs: 1000 * HOUR } });
  afterAll(() => replicas.close());

  it('publish each tick once, and keep a schedule that another live process has in its file', async () => {
    const [board, second] = [await start(TEN), await start(TEN)];
    const rows = (sql: string): Promise<Row[]> => board.app.database.rows(sql) as unknown as Promise<Row[]>;
    for (let hour = 1; hour <= 5; hour += 1) {
      clock.advance(HOUR);
      await eventually(
        'all have ticked',
        async () => (await rows('select 1 from schedule_ticks')).length === 10 * hour,
      );
    }
    const states = await rows('select schedule, state from schedule_ticks');
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['published']));
    expect(await rows(`select id from artifacts where produced_by = 'schedule'`)).toHaveLength(50);

    const schedules = async (): Promise<number> => (await rows('select name from schedules')).length;
    const third = await start('');
    expect(await schedules()).toBe(10);
    await board.close();
    await third.http.get('/health/ready').expect(200);
    expect(await schedules()).toBe(10);
    await second.close();
    await eventually('the third has removed what no file has any more', async () => {
      const left = await third.app.database.rows('select name from schedules');
      return left.length === 0;
    });
    await start('  other: { every: 2h, publishes: { type: Due } }');
    expect(await third.app.database.rows('select name from schedules')).toHaveLength(1);
  });

  it('keep the schedules of a process whose registration had expired while another one started', async () => {
    const file = '  kept: { every: 2h, publishes: { type: Due } }';
    const board = await replicas.start(config(file), { role: WORKER, settings: { leaseMs: 2_000 } });
    const names = async (): Promise<string[]> =>
      (await board.app.database.rows<{ name: string }>('select name from schedules')).map(({ name }) => name);
    expect(await names()).toContain('kept');
    const versions = async (): Promise<number> =>
      (await board.app.database.rows(`select 1 from schedule_versions where schedule = 'kept'`)).length;
    await eventually('the other one has removed it, and the first one has stored it again', async () => {
      await queryOnce(board.app.database.url, 'update processes set seen_until = 0');
      const other = await replicas.start(config(''), { role: WORKER, settings: { leaseMs: 2_000 } });
      await other.close();
      return (await versions()) > 1;
    });
    await eventually('it is stored', async () => (await names()).includes('kept'));
  });

  it('remove a schedule when the registration of the last process with its file has expired', async () => {
    const settings = { leaseMs: 2_000 };
    const killed = await replicas.start(config('  ended: { every: 2h, publishes: { type: Due } }'), {
      role: WORKER,
      settings,
    });
    const other = await replicas.start(config(''), { role: WORKER, settings });
    const rows = (sql: string) => other.app.database.rows<{ name: string }>(sql);
    const left = (): Promise<unknown[]> => rows(`select name from schedules where name = 'ended'`);
    // It stands for a process with the same file that is killed, and so gives no signal.
    await queryOnce(
      other.app.database.url,
      `insert into processes select (jsonb_populate_record(processes, '{"id": "killed"}')).* from processes
        where configuration = (select configuration from schedules where name = 'ended')`,
    );
    await killed.close();
    await eventually('it is removed', async () => (await left()).length === 0);
    expect(await rows(`select id as name from processes where id = 'killed'`)).toEqual([]);
  });

  it('take over what a killed process has left, also if the schedules cannot be read', async () => {
    const board = await replicas.start(config('  read: { every: 2h, publishes: { type: Due } }'), {
      role: WORKER,
      settings: { leaseMs: 2_000 },
    });
    const { url } = board.app.database;
    await board.http.post('/api/v1/agents/count/pause').expect(200);
    const correlation = await board.publish('Due', {});
    await queryOnce(url, 'alter table schedules rename to unreadable');
    await queryOnce(
      url,
      `update executions set state = 'running', lease_owner = 'killed', lease_token = 'killed', lease_until = 0
        where correlation_id = '${correlation}'`,
    );
    await queryOnce(url, 'delete from agent_pauses');
    await eventually('it has ended', async () => (await board.ended(correlation)).state === 'completed');
    await queryOnce(url, 'alter table unreadable rename to schedules');
  });

  it('have the schedule of a file that still runs when the process with a later file has ended', async () => {
    const every = (time: string): string => config(`  back: { every: ${time}, publishes: { type: Due } }`);
    const board = await replicas.start(every('2h'), { role: WORKER });
    const schedule = async (): Promise<{ options: { every: string }; version: number }> =>
      (await board.http.get('/api/v1/schedules/back').expect(200)).body;
    const later = await replicas.start(every('3h'), { role: WORKER });
    expect(await schedule()).toMatchObject({ options: { every: '3h' }, version: 2 });
    await later.close();
    await eventually('it is as in the file of the first one', async () => (await schedule()).options.every === '2h');
    await replicas.start(config(''), { role: WORKER });
    expect(await schedule()).toMatchObject({ options: { every: '2h' }, version: 3 });
  });
});
