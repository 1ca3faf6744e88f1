// Each bucket ends at this multiple of where it begins. The estimate for a bucket is at most 9.1 % off, and rounding
// to three digits adds 0.5 %: together less than the 10 % that docs/api.md promises.
const GROWTH = 1.2;
const DIGITS = 3;

/** The bucket of an event without a latency. */
export const NO_LATENCY = -1;

/** The logarithmic bucket of a latency in whole milliseconds; 0 ms has its own. A negative latency counts as 0. */
export const latencyBucket = (ms: number): number => (ms < 1 ? 0 : 1 + Math.ceil(Math.log(ms) / Math.log(GROWTH)));

/** A latency (ms) that differs from each one in the bucket by less than 10 %. */
export function latencyIn(bucket: number): number {
  if (bucket === 0) return 0;
  const least = Math.floor(GROWTH ** (bucket - 2)) + 1;
  const most = Math.floor(GROWTH ** (bucket - 1));
  return Number(((2 * least * most) / (least + most)).toPrecision(DIGITS));
}
