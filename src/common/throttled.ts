const PAUSE_FACTOR = 20;

/** Whoever asks for it gets what `count` found a moment ago, so that it never takes more than a small part of the time. */
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
