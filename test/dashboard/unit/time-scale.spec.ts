// Uses the app's own code: how a timeline maps times to places, and shortens idle times.
import { type Span, timeScale } from '../../../dashboard/src/views/correlation/time-scale';
import { Random } from '../../support/random';

describe('the time scale of a timeline', () => {
  it('is linear where nothing is idle for long', () => {
    const { place, breaks } = timeScale([
      { from: 1_000, to: 2_000 },
      { from: 2_500, to: 5_000 },
    ]);
    expect(breaks).toEqual([]);
    expect([1_000, 2_000, 3_000, 5_000].map(place)).toEqual([0, 0.25, 0.5, 1]);
  });

  it('shortens a long time in which nothing happens, and says how long it was', () => {
    const HOUR = 3_600_000;
    const { place, breaks } = timeScale([
      { from: 0, to: 1_000 },
      { from: 1_000 + HOUR, to: 2_000 + HOUR },
    ]);
    expect(breaks).toEqual([{ at: expect.closeTo(0.5, 5), text: '1 h idle' }]);
    // Both busy seconds have the same width, and the hour has 6 % of them.
    expect(place(1_000)).toBeCloseTo(1 / 2.12, 5);
    expect(place(1_000 + HOUR) - place(1_000)).toBeCloseTo(0.12 / 2.12, 5);
    expect(place(2_000 + HOUR)).toBe(1);
  });

  it('does not shorten what is idle for less than a second, or for less than 40 % of the busy time', () => {
    const short = timeScale([
      { from: 0, to: 10 },
      { from: 1_010, to: 1_020 },
    ]);
    const share = timeScale([
      { from: 0, to: 10_000 },
      { from: 17_000, to: 27_000 },
    ]);
    expect([...short.breaks, ...share.breaks]).toEqual([]);
  });

  it('joins spans that overlap', () => {
    const { place, breaks } = timeScale([
      { from: 0, to: 10_000 },
      { from: 1_000, to: 2_000 },
      { from: 9_000, to: 20_000 },
    ]);
    expect(breaks).toEqual([]);
    expect(place(10_000)).toBe(0.5);
  });

  it('has ticks at round times, none in a shortened time, and none without room for its text', () => {
    const { ticks } = timeScale([
      { from: 500, to: 30_500 },
      { from: 86_400_500, to: 86_430_500 },
    ]);
    expect(ticks.map(({ text }) => text)).toEqual(['0', '+15 s', '+30 s', '+1 d']);
    expect(ticks.map(({ at }) => at)).toEqual([...ticks].map(({ at }) => at).sort((one, other) => one - other));
    expect(Math.max(...ticks.map(({ at }) => at))).toBeLessThan(0.9);
  });

  it('has a place for a single moment, and for nothing', () => {
    expect(timeScale([{ from: 5, to: 5 }]).place(5)).toBe(0);
    expect(timeScale([]).ticks).toEqual([]);
  });

  it('puts later times never before earlier ones, whatever the spans', () => {
    const random = new Random(20_261_124);
    for (let round = 0; round < 200; round += 1) {
      const spans = Array.from({ length: random.between(1, 12) }, (): Span => {
        const from = random.between(0, 1_000_000);
        return { from, to: from + random.between(0, 50_000) };
      });
      const { place, breaks } = timeScale(spans);
      const places = spans
        .flatMap(({ from, to }) => [from, to])
        .sort((one, other) => one - other)
        .map(place);
      expect(places[0]).toBe(0);
      expect(places.at(-1)).toBeCloseTo(1, 9);
      places.forEach((at, index) => expect(at).toBeGreaterThanOrEqual(places[index - 1] ?? 0));
      for (const { at } of breaks) expect(at).toBeGreaterThan(0);
    }
  });
});
