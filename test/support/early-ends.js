import { channel } from 'node:diagnostics_channel';

import { addEventHandler } from 'jest-circus';

/** Stops tests that hang. No test should take as long, and a busy machine must not fail one. */
const LONGEST_MS = 300_000;

/** Kept here, because a test may replace the global ones. */
const { clearTimeout, setImmediate, setTimeout } = globalThis;

/** Ends the test or the hook that is running. */
let fail;
/** The reasons of promises that were rejected meanwhile, and that nothing has handled yet. */
const rejected = new Map();

// Without this, an error that nothing catches would end the worker, and if it came between two suites, the whole run.
process.on('uncaughtException', (error) => (fail ?? report)(error));
process.on('unhandledRejection', (reason, promise) => (fail ? rejected.set(promise, reason) : report(reason)));
process.on('rejectionHandled', (promise) => rejected.delete(promise));

/** Gets a message when a test or a hook fails. `service.ts` then prints what its services have logged. */
const failures = channel('test-failure');

const report = (error) => console.error('outside of any test, nothing caught', error);

// The runner ends a test only with its function. A test or a hook can be given its own time limit, in ms, after that.
addEventHandler((event, { currentDescribeBlock }) => {
  const added =
    event.name === 'add_test'
      ? currentDescribeBlock.children.at(-1)
      : event.name === 'add_hook'
        ? currentDescribeBlock.hooks.at(-1)
        : undefined;
  if (added?.fn) added.fn = ending(added.fn, added.timeout ?? LONGEST_MS);
});

const ending = (run, ms) => async () => {
  let timer;
  const early = new Promise((_resolve, reject) => {
    fail = reject;
    timer = setTimeout(() => reject(new Error(`not within its time limit of ${ms} ms`)), ms);
  });
  try {
    await Promise.race([run(), early]);
    // Node reports a turn later that one was handled.
    if (rejected.size > 0) await new Promise((resolve) => setImmediate(resolve));
    if (rejected.size > 0) throw rejected.values().next().value;
  } catch (error) {
    failures.publish(error);
    throw error;
  } finally {
    fail = undefined;
    rejected.clear();
    clearTimeout(timer);
  }
};
