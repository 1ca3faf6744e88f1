import { OriginBreaker } from '../../src/webhooks/origin-breaker.js';
import { ManualClock } from '../support/manual-clock.js';

const ORIGIN = 'https://hooks.example.com';

describe('an origin that fails', () => {
  let clock: ManualClock;
  let breaker: OriginBreaker;
  let told: string[];

  beforeEach(() => {
    clock = new ManualClock();
    told = [];
    breaker = new OriginBreaker(16, clock, (origin) => told.push(origin));
  });

  const failTimes = (count: number): void => Array.from({ length: count }, (_, n) => `delivery-${n}`).forEach((id) => breaker.failed(ORIGIN, id));

  it('is held back after five deliveries that failed, and no other is', () => {
    failTimes(4);
    expect(breaker.limitOf(ORIGIN)).toBe(16);
    failTimes(5);
    expect(breaker.limitOf(ORIGIN)).toBe(0);
    expect(breaker.limitOf('https://other.example.com')).toBe(16);
  });

  it('is not held back for one delivery alone, however often that is tried', () => {
    for (let tries = 0; tries < 100; tries += 1) breaker.failed(ORIGIN, 'the same');
    expect(breaker.limitOf(ORIGIN)).toBe(16);
  });

  it('is asked once after each pause, which grows to a minute', () => {
    failTimes(5);
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
      clock.advance(pause * 1_000 - 1);
      expect([breaker.limitOf(ORIGIN), told]).toEqual([0, []]);
      clock.advance(1);
      expect([breaker.limitOf(ORIGIN), told]).toEqual([1, [ORIGIN]]);
      told = [];
      breaker.failed(ORIGIN, `probe after ${pause}`);
    }
  });

  it('is not held back longer by what was on its way when it was found to fail', () => {
    failTimes(5);
    for (let n = 0; n < 11; n += 1) breaker.failed(ORIGIN, `on its way ${n}`);
    clock.advance(1_000);
    expect(breaker.limitOf(ORIGIN)).toBe(1);
  });

  it('is as any other after the first success', () => {
    failTimes(5);
    clock.advance(1_000);
    told = [];
    breaker.worked(ORIGIN);
    expect([breaker.limitOf(ORIGIN), told]).toEqual([16, [ORIGIN]]);
    failTimes(4);
    expect(breaker.limitOf(ORIGIN)).toBe(16);
  });
});
