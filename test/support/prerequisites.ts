/**
 * Returns `describe` if the machine has what the tests need, and otherwise one that skips them, so that the other tests
 * can run without it. Under CI it throws instead, because skipped tests would look like passed ones there.
 */
export function describeIf(isThere: boolean, need: string): typeof describe | typeof describe.skip {
  if (isThere) return describe;
  if (process.env['CI']) throw new Error(`these tests need ${need}, and CI must not skip them`);
  console.warn(`skipped: the tests need ${need}`);
  return describe.skip;
}
