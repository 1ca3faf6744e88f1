import { scheduler } from './scheduler.js';

const PAUSE_FACTOR = 20;

/**
 * Returns the latest result of `count` for a while, so that an expensive count takes at most a twentieth of the time.
 */
export function throttled<T>(count: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  const countNow = async (): Promise<T> => {
    const startedAt = scheduler.elapsed();
    try {
      return await count();
    } finally {
      scheduler.after(PAUSE_FACTOR * (scheduler.elapsed() - startedAt), () => (found = null));
    }
  };
  return () => (found ??= countNow());
}
