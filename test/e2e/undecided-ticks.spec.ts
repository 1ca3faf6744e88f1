import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const AGENTS = `
agents:
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

interface Tick {
  at: number;
  state: string;
  reason: string | null;
  version: number;
}

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked and begins at 10:00. */
describe('ticks that are not decided yet', () => {
  let folder: ConfigurationFolder;
  let clock: ManualClock;
  let board: Board;
  beforeEach(() => {
    folder = new ConfigurationFolder();
    clock = new ManualClock();
  });
  afterEach(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const start = async (schedules: string): Promise<void> => {
    board = await Board.start(AGENTS + schedules, { clock, folder: folder.path, settings: { leaseMs: 1000 * HOUR } });
  };
  const ticking = (rules: string): string => `schedules: { ours: { ${rules}, publishes: { type: Due } } }`;
  const change = (what: string) => board.http.post(`/api/v1/schedules/ours/${what}`).expect(200);
  const ticks = (): Promise<Tick[]> =>
    board.app.database.rows<Tick>(
      `select scheduled_for as at, state, reason, version from schedule_ticks where schedule = 'ours' order by scheduled_for`,
    );
  const START = Date.UTC(2026, 10, 20, 10);
  const seconds = (count: number): number[] => Array.from({ length: count }, (_, n) => START + (n + 1) * SECOND);
  const timesOf = (decided: readonly Tick[]): number[] => decided.map(({ at }) => Number(at));

  it('are skipped by a pause while they wait for their jitter', async () => {
    await start(ticking('every: 1h, jitter: 30m'));
    clock.advance(HOUR);
    await change('pause');
    const paused = { at: START + HOUR, state: 'skipped', reason: 'the schedule was paused' };
    expect(await ticks()).toMatchObject([paused]);
    await change('resume');
    clock.advance(HOUR);
    clock.advance(30 * MINUTE);
    await eventually('the next tick', async () => (await ticks()).length === 2);
    expect(await ticks()).toMatchObject([paused, { at: START + 2 * HOUR, state: 'published' }]);
  });

  it('are skipped by a pause while missed ones are made up for, each with its version', async () => {
    await start(ticking('every: 1s'));
    await board.close();
    clock.advance(500 * SECOND);
    await start(ticking('every: 1s, description: second'));
    clock.advance(100 * SECOND);
    await change('pause');
    await change('resume');
    const decided = await ticks();
    expect(timesOf(decided)).toEqual(seconds(600));
    const skipped = decided.filter(({ state }) => state === 'skipped');
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(['the schedule was paused']));
    expect(timesOf(skipped)).toEqual(seconds(600).slice(-skipped.length));
    expect(skipped.findIndex(({ version }) => version === 2)).toBe(skipped.length - 100);
    expect(skipped.length).toBeGreaterThan(100);
  });

  it('are skipped when the file loses their schedule, of which 1,000 are recorded', async () => {
    await start(ticking('every: 1s'));
    await board.close();
    clock.advance(HOUR);
    await start('');
    const decided = await ticks();
    expect(timesOf(decided)).toEqual(seconds(1_000));
    expect(decided.at(-2)).toMatchObject({ state: 'skipped', reason: 'the schedule was deleted' });
    expect(decided.at(-1)!.reason).toBe(
      'the schedule was deleted; so were all later ticks up to 2026-11-20T11:00:00.000Z, which are not recorded',
    );
  });

  it('are skipped when their schedule is deleted, and not those of a pause', async () => {
    await start('');
    const create = () =>
      board.http
        .post('/api/v1/schedules')
        .send({ name: 'ours', options: { every: '1h', jitter: '30m', publishes: { type: 'Due' } } })
        .expect(200);
    const remove = () => board.http.delete('/api/v1/schedules/ours').expect(200);
    await create();
    clock.advance(HOUR);
    await remove();
    const deleted = [{ at: START + HOUR, state: 'skipped', reason: 'the schedule was deleted' }];
    expect(await ticks()).toMatchObject(deleted);
    await create();
    await change('pause');
    clock.advance(HOUR);
    await remove();
    expect(await ticks()).toMatchObject(deleted);
  });
});
