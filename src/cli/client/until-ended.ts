import { setTimeout } from 'node:timers/promises';

import { retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';

const FIRST_LOOK_MS = 20;
const LOOK_MS = 1_000;

/** Gets a path again and again until its answer is not open, also across a restart of the server. */
export async function untilEnded<T>(
  server: Server,
  path: string,
  isOpen: (answer: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LOOK_MS)) {
    await setTimeout(pause, undefined, { signal });
    const answer = await retryWhileUnavailable(() => server.get<T>(path, signal), console.error, signal);
    if (!isOpen(answer)) return answer;
  }
}
