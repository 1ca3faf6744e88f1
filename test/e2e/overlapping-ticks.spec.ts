import type { ScheduleOptions } from '../../src/catalog/schedules/schedule.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Its work stays active until a client completes it. */
const CONFIG = `
agents:
  worker: { consumes: [{ types: [Beat] }], publishes: [{ type: Done }], engine: { kind: external } }
`;

interface Tick {
  scheduled_for: string;
  state: string;
  correlation_id: string | null;
}

/** Uses the whole app over HTTP. The clock is faked and begins at 10:00. */
describe('a tick that finds work of others', () => {
  let board: Board;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    board = await Board.start(CONFIG, { clock, settings: { leaseMs: 1000 * HOUR } });
  });
  afterEach(() => board.close());

  const URL = '/api/v1/schedules/beats';
  const every = (more: Partial<ScheduleOptions>): object => ({
    options: { every: '1h', publishes: { type: 'Beat' }, ...more },
  });
  const create = (more: Partial<ScheduleOptions>) =>
    board.http
      .post('/api/v1/schedules')
      .send({ name: 'beats', ...every(more) })
      .expect(200);
  const ticks = async (): Promise<Tick[]> =>
    ((await board.http.get(`${URL}/ticks`).expect(200)).body as { ticks: Tick[] }).ticks.reverse();
  /** The state of each tick, and that of its correlation. */
  const works = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const { state, correlation_id: id } of await ticks())
      found.push(id === null ? state : `${state}, ${(await board.status(id)).state}`);
    return found;
  };
  const afterHour = async (count: number): Promise<void> => {
    clock.advance(HOUR);
    await eventually(`${count} ticks are decided`, async () => (await ticks()).length === count);
  };
  const isDecided = (time: number): Promise<void> =>
    eventually('the time of the tick has passed', async () => {
      const [row] = await board.app.database.rows<{ position: number }>('select position from schedules');
      return row!.position >= time;
    });

  it('lets it run with `allow`, also while a tick is queued that an earlier version has left', async () => {
    await create({ overlap: 'queue' });
    await afterHour(1);
    await afterHour(2);
    await board.http
      .put(URL)
      .send(every({ overlap: 'allow' }))
      .expect(200);
    await afterHour(3);
    await afterHour(4);
    expect(await works()).toEqual(['published, active', 'queued', 'published, active', 'published, active']);
  });

  it('cancels no work with `cancel_running` when it has failed', async () => {
    const payload = "{ 'x': 1 / (scheduled_for.contains('T12') ? 0 : 1) }";
    await create({ overlap: 'cancel_running', publishes: { type: 'Beat', payload } });
    await afterHour(1);
    await afterHour(2);
    expect(await works()).toEqual(['published, active', 'failed']);
    await afterHour(3);
    expect(await works()).toEqual(['published, cancelled', 'failed', 'published, active']);
  });

  it('cancels no work with `cancel_running` when a backfill has published it before its jitter has ended', async () => {
    await create({ overlap: 'cancel_running', jitter: '30m' });
    clock.advance(HOUR);
    const time = '2026-11-20T11:00:00Z';
    await board.http.post(`${URL}/backfill`).send({ from: time, to: time }).expect(200);
    clock.advance(30 * MINUTE);
    await isDecided(Date.parse(time));
    expect(await works()).toEqual(['published, active']);
    await afterHour(2);
    expect(await works()).toEqual(['published, cancelled', 'published, active']);
  });

  it('cancels no work of later ticks with `cancel_running`', async () => {
    await create({ overlap: 'cancel_running', jitter: '30m' });
    clock.advance(HOUR);
    await board.http.post(`${URL}/trigger`).expect(200);
    clock.advance(30 * MINUTE);
    await isDecided(Date.UTC(2026, 10, 20, 11));
    expect(await works()).toEqual(['published, active', 'published, active']);
  });
});
