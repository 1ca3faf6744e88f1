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
