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
