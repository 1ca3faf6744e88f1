import { withinTime } from '../../src/common/time-limit.js';

describe('work with a time limit', () => {
  it('returns its result, and throws its error', () => {
    expect(withinTime(60_000, () => [1])).toEqual({ result: [1] });
    expect(() =>
      withinTime(60_000, () => {
        throw new TypeError('wrong');
      }),
    ).toThrow(new TypeError('wrong'));
  });

  it('is stopped wherever it is', () => {
    let steps = 0;
    const endless = (): never => {
      for (;;) steps += 1;
    };
    expect(withinTime(200, endless)).toBeUndefined();
    expect(steps).toBeGreaterThan(0);
    expect(withinTime(60_000, () => steps)).toEqual({ result: steps });
  });
});
