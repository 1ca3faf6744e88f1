// A program imports this before its own modules, and then waits a minute in seconds. The clock advances only while the
// program waits, so that it waits as often on a busy machine as on an idle one.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const SPEED = 20;
let now = 0;

const { setTimeout } = timers;
timers.setTimeout = async (delay, ...more) => {
  const end = now + delay;
  const result = await setTimeout(delay / SPEED, ...more);
  now = Math.max(now, end);
  return result;
};
syncBuiltinESMExports();

performance.now = () => now;
