// Measures the CPU time of this thread: on a busy machine wall-clock time would measure other processes.
const spentMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

export interface Watched<Result> {
  result: Result;
  /** The longest time that the main thread worked without a turn of the event loop. */
  heldMs: number;
  tookMs: number;
  /**
   * The part of that time in which this thread, which is never idle meanwhile, did not get a CPU: how busy others kept
   * the machine.
   */
  deniedMs: number;
}

/** Runs `work` while the event loop turns as fast as it can, and measures its longest turn. */
export async function watched<Result>(work: () => Promise<Result>): Promise<Watched<Result>> {
  await new Promise(setImmediate);
  let heldMs = 0;
  let lastTurn = spentMs();
  const turn = (): void => {
    const now = spentMs();
    heldMs = Math.max(heldMs, now - lastTurn);
    lastTurn = now;
  };
  let turning = setImmediate(function again() {
    turn();
    turning = setImmediate(again);
  });
  const began = performance.now();
  const spentBefore = spentMs();
  const result = await work();
  const tookMs = performance.now() - began;
  const deniedMs = Math.max(0, tookMs - (spentMs() - spentBefore));
  turn();
  clearImmediate(turning);
  return { result, heldMs, tookMs, deniedMs };
}

/**
 * Repeats `work` until no turn of the event loop was as long as `mostMs`, because garbage may be collected at any moment.
 * Throws if each of `tries` had such a turn.
 */
export async function expectShortTurns(work: () => Promise<unknown>, mostMs: number, tries = 5): Promise<void> {
  const turns: number[] = [];
  while (turns.length < tries) {
    const { heldMs } = await watched(work);
    if (heldMs < mostMs) return;
    turns.push(heldMs);
  }
  throw new Error(`the event loop was held for ${turns.map((turn) => turn.toFixed(0)).join(', ')} ms`);
}
