import { setTimeout as wait } from 'node:timers/promises';

/** Polls until there is an answer; rejects if there is none within `withinMs`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  withinMs = 60_000,
  everyMs = 100,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await wait(everyMs);
  }
}
