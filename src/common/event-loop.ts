const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Each turn resumes one caller, in the order of the calls. Long reads await
 * it between their steps: node:sqlite answers synchronously, so awaiting a query does not yield, and with one
 * `setImmediate` per caller the steps of all long reads would run in the same turn. This way other work waits for one
 * step at most, no matter how many requests read.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(resumeNext);
}
