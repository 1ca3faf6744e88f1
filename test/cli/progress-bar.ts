import { existsSync } from 'node:fs';

import { describeIf } from '../support/prerequisites.js';

// A pseudo terminal comes from `script`, which Linux machines have with util-linux; on macOS `script` has other
// options.
const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');

/** A block of tests that need a pseudo terminal. */
export const describeOnTerminal = describeIf(hasScript, '/usr/bin/script (util-linux)');

/** Returns the frames of the progress bars in what a terminal got, from the first to the last. */
export const framesIn = (shown: string): string[] =>
  [...shown.matchAll(/[█░]+ [^\r\n\u001b]*/g)].map(([frame]) => frame);
