import { TargetBreaker } from '../../src/features/webhooks/target-breaker.js';
import { ManualClock } from '../support/manual-clock.js';

const LINE = 'https://hooks.example.com one';

describe('a target that fails', () => {
  let clock: ManualClock;
  let breaker: TargetBreaker;
  let freed: string[];

  beforeEach(() => {
    clock = new ManualClock();
    freed = [];
    breaker = new TargetBreaker(16, clock, (line) => freed.push(line));
  });

  const failTimes = (count: number): void =>
    Array.from({ length: count }, (_, n) => `delivery-${n}`).forEach((id) => breaker.failed(LINE, id));

  it('is paused after five failed deliveries, and other targets are not', () => {
    failTimes(4);
    expect(breaker.limitOf(LINE)).toBe(16);
    failTimes(5);
    expect(breaker.limitOf(LINE)).toBe(0);
    expect(breaker.limitOf('https://hooks.example.com another')).toBe(16);
  });

  it('is not paused for one delivery, however often that is tried', () => {
    for (let tries = 0; tries < 100; tries += 1) breaker.failed(LINE, 'the same');
    expect(breaker.limitOf(LINE)).toBe(16);
  });

  it('is tried once after each pause, which grows to a minute', () => {
    failTimes(5);
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
      clock.advance(pause * 1_000 - 1);
      expect([breaker.limitOf(LINE), freed]).toEqual([0, []]);
      clock.advance(1);
      expect([breaker.limitOf(LINE), freed]).toEqual([1, [LINE]]);
      freed = [];
      breaker.failed(LINE, `probe after ${pause}`);
    }
  });

  it('is not paused longer by deliveries that were running when it was found to fail', () => {
    failTimes(5);
    for (let n = 0; n < 11; n += 1) breaker.failed(LINE, `on its way ${n}`);
    clock.advance(1_000);
    expect(breaker.limitOf(LINE)).toBe(1);
  });

  it('is tried again when its state is evicted for others', () => {
    failTimes(5);
    for (let n = 0; breaker.limitOf(LINE) === 0; n += 1)
      breaker.failed(`https://hooks.example.com other ${n}`, 'delivery');
    expect(freed).toEqual([LINE]);
  });

  it('is paused until a given time if its host was sent enough, whatever succeeds or fails meanwhile', () => {
    breaker.holdUntil(LINE, clock.now() + 60_000);
    breaker.worked(LINE);
    failTimes(5);
    breaker.holdUntil(LINE, clock.now() + 1_000);
    clock.advance(59_999);
    expect([breaker.limitOf(LINE), freed]).toEqual([0, []]);
    clock.advance(1);
    expect([breaker.limitOf(LINE), freed]).toEqual([16, [LINE]]);
  });

  it('is treated as any other after the first success', () => {
    failTimes(5);
    clock.advance(1_000);
    freed = [];
    breaker.worked(LINE);
    expect([breaker.limitOf(LINE), freed]).toEqual([16, [LINE]]);
    failTimes(4);
    expect(breaker.limitOf(LINE)).toBe(16);
  });
});
