import { type Scheduler, scheduler } from './scheduler.js';
/** The callers of each event loop that wait for their turn. */
const waitingOf = new WeakMap<Scheduler, (() => void)[]>();

/**
 * Resolves in a later turn of the event loop. Each turn resumes one caller, in the order of the calls. Long reads await
 * it between their steps: node:sqlite answers synchronously, so awaiting a query does not yield, and with one
 * turn per caller the steps of all long reads would run in the same turn. This way other work waits for one
 * step at most, no matter how many requests read.
 */
export function yieldToEventLoop(): Promise<void> {
  let waiting = waitingOf.get(scheduler);
  if (!waiting) waitingOf.set(scheduler, (waiting = []));
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) scheduler.later(() => resumeNext(waiting));
  });
}

function resumeNext(waiting: (() => void)[]): void {
  waiting.shift()!();
  if (waiting.length > 0) scheduler.later(() => resumeNext(waiting));
}
