const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, in each turn for one caller, in the order in which they asked. Awaited between the steps
 * of a long read: node:sqlite answers at once, so awaiting a query alone lets nobody else in, and with a `setImmediate` each the steps
 * of all long reads would run in one turn. So whatever else is to be done waits for one step, however many requests read.
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
