// A program imports this before its own modules. A wait of several seconds then ends when the file TOLD_TIME_FILE has
// a number of ms that is as large, whatever the speed of the machine. Shorter waits take their time.
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const SHORT_MS = 10_000;
const EVERY_MS = 50;

const { setTimeout } = timers;
timers.setTimeout = async (delay, value, options) => {
  if (delay < SHORT_MS) return setTimeout(delay, value, options);
  while (toldMs() < delay) await setTimeout(EVERY_MS, undefined, options);
  return value;
};
syncBuiltinESMExports();

function toldMs() {
  try {
    return Number(readFileSync(process.env.TOLD_TIME_FILE, 'utf8'));
  } catch {
    return 0;
  }
}
