import fc from 'fast-check';

import { toTimestamp } from '../../src/common/timestamp.js';
import { printedSeed } from '../support/random.js';

test('a time is written as toISOString writes it, after any earlier time', () => {
  const time = fc.oneof(fc.integer({ min: -1e13, max: 1e13 }), fc.constantFrom(0, -1, 86_399_999, 86_400_000));
  fc.assert(
    fc.property(fc.array(time), (times) =>
      expect(times.map(toTimestamp)).toEqual(times.map((ms) => new Date(ms).toISOString())),
    ),
    { seed: printedSeed() },
  );
});
