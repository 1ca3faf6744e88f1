import { registerHooks } from 'node:module';

const environment = { ...process.env };

// All suites of a worker share its environment and its global object. A suite begins, when its file is loaded, with the
// variables of the run, and without the invocations that an earlier suite kept by test/e2e/batch-board.ts, because suites
// give them the same names.
registerHooks({
  load(url, context, next) {
    if (/\.spec\.ts\?/.test(url)) restore();
    return next(url, context);
  },
});

function restore() {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  delete globalThis.batchGates;
}
