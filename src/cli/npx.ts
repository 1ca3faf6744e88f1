import type { Environment } from '../config/environment.js';

// Read at the start, because the parent may end before anyone waits for that.
const PARENT = process.ppid;

const INTERVAL_MS = 250;

/**
 * Calls `stop` when the parent process has ended, if npx started this one. npx runs a program in a shell and passes
 * SIGTERM to the shell only. The shell ends, and without this the program would continue and hold its database.
 */
export function whenNpxEnds({ npm_command: command }: Environment, stop: () => void): void {
  // A process with a channel to its parent notices the end of the channel.
  if (command !== 'exec' || process.connected) return;
  const timer = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(timer);
    stop();
  }, INTERVAL_MS);
  timer.unref();
}
