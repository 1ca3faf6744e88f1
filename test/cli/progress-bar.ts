import { existsSync } from 'node:fs';

// A pseudo terminal comes from `script`, which Linux machines have with util-linux; on macOS `script` has other
// options.
const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');

/** A block of tests that need a pseudo terminal. They are skipped on machines that have none. */
export function describeOnTerminal(name: string, tests: () => void): void {
  if (!hasScript) console.log('no /usr/bin/script (util-linux) here: the terminal tests are skipped');
  (hasScript ? describe : describe.skip)(name, tests);
}

/** Returns the frames of the progress bars in what a terminal got, from the first to the last. */
export const framesIn = (shown: string): string[] =>
  [...shown.matchAll(/[█░]+ [^\r\n\u001b]*/g)].map(([frame]) => frame);
