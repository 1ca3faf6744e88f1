// Imported by a program before its own modules, has it live through a minute of its own waiting in seconds. What else it does takes no time of
// its own, so that it waits as often on a busy machine as on an idle one.
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
