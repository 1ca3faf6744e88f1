import type { ScheduleOptions } from '../../src/catalog/schedules/schedule.js';
import { dueTimes } from '../schedules/due-times.js';
import { tickBreaches } from '../schedules/tick-invariants.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Programs } from './programs.js';
import { LaterTime } from './ticks/later-time.js';
import { configOf, tickingSchedules, WORK } from './ticks/ticking-schedules.js';

const ROUNDS = Number(process.env.STARLING_SCHEDULE_CRASH_ROUNDS ?? 4);
const PLACES = Array.from({ length: Programs.SIZE }, (_, place) => place);
/** Lost leases of one execution. */
const OFTEN = 6;
/** In one of so many rounds, time passes while no process runs. */
const OUTAGE_EVERY = 4;

interface Work {
  correlation: string;
  state: string;
  executions: number;
  outputs: number;
}

/**
 * Runs the built program, one process on SQLite and three on Postgres, with ticks every second. Processes are killed with
 * SIGKILL, and sometimes all of them for some minutes, which are the only thing that is faked.
 */
describe(`schedules of a service that is killed ${ROUNDS} times`, () => {
  const random = new Random(printedSeed());
  const time = new LaterTime();
  const programs = new Programs(time.environment);
  const rows = <T extends object>(query: string): Promise<T[]> => programs.database.rows<T>(query);

  beforeAll(async () => {
    await builtProgram();
  });
  afterAll(() => programs.remove());

  it(
    'publish each tick once, or skip it for a reason that their rules give',
    async () => {
      const schedules = tickingSchedules(time.now);
      await programs.prepare(configOf(schedules), { 'work.js': WORK }, '2s');
      await time.prepare(programs.database.url);
      await Promise.all(PLACES.map((place) => programs.begin(place)));
      for (let round = 1; round <= ROUNDS; round += 1) {
        await suffer(round % OUTAGE_EVERY === 0);
        await eventually('the work that was interrupted most often has ended', noneIsOftenInterrupted);
      }
      const until = time.now;
      await eventually('every tick up to now is decided', () => decided(schedules, until));
      await pauseAll(Object.keys(schedules));
      await eventually('all work has ended', async () => {
        return (await rows(`select 1 from correlations where state = 'active'`)).length === 0;
      });
      const states = await rows<{ state: string; reason: string | null }>('select state, reason from schedule_ticks');
      const breaches = [...(await tickBreaches(rows, new Set(Object.keys(schedules)))), ...(await workBreaches())];
      expect(breaches.slice(0, 20)).toEqual([]);
      console.log(counted(states));
      expect(await Promise.all(PLACES.map((place) => programs.kill(place, 'SIGTERM')))).toEqual(PLACES.map(() => 0));
    },
    300_000 + ROUNDS * 20_000,
  );

  /** Kills some processes at random moments, and starts them again. */
  async function suffer(isOutage: boolean): Promise<void> {
    const victims = isOutage ? PLACES : PLACES.filter(() => random.between(0, 1) === 0);
    if (victims.length === 0) victims.push(random.between(0, Programs.SIZE - 1));
    await Promise.all(victims.map((place) => killAfter(place, random.between(0, 2_500))));
    if (isOutage) await time.pass(programs.database.url, random.between(70, 150) * 1_000);
    await Promise.all(victims.map((place) => programs.begin(place)));
  }

  /** An execution fails after ten lost leases (docs/crash-safety.md), which another test is about. */
  async function noneIsOftenInterrupted(): Promise<boolean> {
    const query = `select 1 from executions where lost_leases >= ${OFTEN} and ended_at is null`;
    return (await rows(query)).length === 0;
  }

  async function killAfter(place: number, ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await programs.kill(place);
  }

  /** Throws if a tick is queued, or one up to `until` is not decided. */
  async function decided(schedules: Record<string, ScheduleOptions>, until: number): Promise<true> {
    const queued = await rows<{ name: string }>(`select schedule as name from schedule_ticks where state = 'queued'`);
    const stored = await rows<{ name: string; position: number }>('select name, position from schedules');
    const late = stored.filter(({ name, position }) => dueTimes(schedules[name]!, position, until).length > 0);
    if (queued.length + late.length > 0)
      throw new Error(`${queued.length} queued, and late: ${late.map(({ name }) => name).join()}`);
    return true;
  }

  async function pauseAll(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const { status } = await fetch(`${programs.url(0)}/api/v1/schedules/${name}/pause`, { method: 'POST' });
      expect(status).toBe(200);
    }
  }

  /** Finds published ticks whose work is not there once. */
  async function workBreaches(): Promise<string[]> {
    const works = await rows<Work>(
      `select c.id as correlation, c.state,
         (select count(*) from executions e where e.correlation_id = c.id) as executions,
         (select count(*) from artifacts a where a.correlation_id = c.id and a.type in ('Counted', 'Done')) as outputs
       from correlations c`,
    );
    return works
      .filter(({ state, executions, outputs }) => {
        const due = state === 'completed' ? 1 : state === 'cancelled' ? 0 : -1;
        return executions !== 1 || outputs !== due;
      })
      .map((work) => JSON.stringify(work));
  }
});

/** The number of ticks of each state and kind of reason. */
function counted(states: readonly { state: string; reason: string | null }[]): Record<string, number> {
  const kinds = Map.groupBy(states, ({ state, reason }) =>
    `${state} ${(reason ?? '').replace(/\S*\d\S*/g, '...')}`.trim(),
  );
  return Object.fromEntries([...kinds].map(([kind, own]) => [kind, own.length]));
}
