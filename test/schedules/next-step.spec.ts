import { nextStep } from '../../src/blackboard/schedules/next-step.js';
import { scheduleFrom } from './made-schedules.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe('the next step of a schedule that has missed 3,600 ticks', () => {
  const now = Date.UTC(2026, 10, 20, 10);
  const step = (missed: 'run_all' | 'run_last' | 'skip') =>
    nextStep(scheduleFrom({ every: '1s', missed }), now - HOUR, null, now);

  it('publishes one of them', () => {
    expect(step('run_all')).toEqual({ kind: 'publish', tick: now - HOUR + SECOND });
  });

  it.each(['run_last', 'skip'] as const)('skips at most 1,000 of them in a transaction: %s', (missed) => {
    const next = step(missed);
    expect(next.kind === 'skip' && next.ticks.length).toBe(1_000);
  });
});

describe('the next step of a schedule whose jitter is longer than the time between its ticks', () => {
  const schedule = scheduleFrom({ every: '5s', jitter: '3m', missed: 'skip' });
  const start = Date.UTC(2026, 10, 20, 10);

  it('publishes each tick before the next one, and skips none', () => {
    let [now, position] = [start, start];
    const delays: number[] = [];
    while (delays.length < 100) {
      const step = nextStep(schedule, position, null, now);
      expect(['wait', 'publish']).toContain(step.kind);
      if (step.kind === 'wait') now = step.until;
      if (step.kind !== 'publish') continue;
      delays.push(now - step.tick);
      position = step.tick;
    }
    expect(position).toBe(start + 500 * SECOND);
    expect(Math.max(...delays)).toBeLessThanOrEqual(5 * SECOND);
    expect(new Set(delays).size).toBeGreaterThan(50);
  });
});

describe('the next step of a schedule whose jitter is longer than catch_up', () => {
  const schedule = scheduleFrom({ every: '1h', jitter: '30m', catch_up: '1ms' });
  const start = Date.UTC(2026, 10, 20, 10);

  it('publishes a tick that is due', () => {
    const step = nextStep(schedule, start, null, start);
    if (step.kind !== 'wait') throw new Error(`it does not wait: ${step.kind}`);
    expect(step.until).toBeGreaterThan(start + HOUR + SECOND);
    expect(nextStep(schedule, start, null, step.until)).toEqual({ kind: 'publish', tick: start + HOUR });
  });
});

describe('the next step of a schedule without a tick for so long that the search has ended', () => {
  const schedule = scheduleFrom({ every: '1m', except: ['0-29 * * 7 *', '30-59 * * 7 *'] });
  const [july, august] = [Date.UTC(2026, 6, 1), Date.UTC(2026, 7, 1)];

  it('is to search again when that time has come, until the tick', () => {
    let [now, position] = [july, july - 1];
    const kinds: string[] = [];
    for (let step = nextStep(schedule, position, null, now); kinds.at(-1) !== 'publish';) {
      kinds.push(step.kind);
      if (step.kind === 'wait') now = step.until;
      if (step.kind === 'advance') position = step.position;
      if (step.kind === 'publish') expect([step.tick, now]).toEqual([august, august]);
      step = nextStep(schedule, position, null, now);
    }
    expect(kinds.slice(0, 2)).toEqual(['wait', 'advance']);
    expect(kinds.slice(-2)).toEqual(['wait', 'publish']);
  });

  it('is at the end of the version if that comes first', () => {
    const change = july + HOUR;
    expect(nextStep(schedule, july - 1, change, july + 2 * HOUR)).toEqual({ kind: 'advance', position: change });
  });
});
