const PAUSE_FACTOR = 20;

/**
 * Returns the latest result of `count` for a while, so that an expensive count takes at most a twentieth of the time.
 */
export function throttled<T>(count: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  const countNow = async (): Promise<T> => {
    const startedAt = performance.now();
    try {
      return await count();
    } finally {
      setTimeout(() => (found = null), PAUSE_FACTOR * (performance.now() - startedAt)).unref();
    }
  };
  return () => (found ??= countNow());
}
