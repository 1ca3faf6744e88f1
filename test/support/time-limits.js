import { addEventHandler } from 'jest-circus';

/** Stops tests that hang. No test should take as long, and a busy machine must not fail one. */
const LONGEST_MS = 300_000;

// The runner has no time limits. A test or a hook can be given its own, in ms, after its function.
addEventHandler((event, { currentDescribeBlock }) => {
  const added =
    event.name === 'add_test'
      ? currentDescribeBlock.children.at(-1)
      : event.name === 'add_hook'
        ? currentDescribeBlock.hooks.at(-1)
        : undefined;
  if (added?.fn) added.fn = limited(added.fn, added.timeout ?? LONGEST_MS);
});

const limited = (run, ms) => async () => {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within its time limit of ${ms} ms`)), ms);
  });
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
};
