import { relative, resolve } from 'node:path';

import Sequencer from '@jest/test-sequencer';

const TESTS = resolve(import.meta.dirname, '..');

/** Suites of more than 20 s, the longest first. */
const LONGEST = [
  'cli/serve.spec.ts',
  'cli/command-line.spec.ts',
  'database/migrations.postgres.spec.ts',
  'cli/file-modes.spec.ts',
  'cli/dev.spec.ts',
  'dashboard/every-view.spec.ts',
  'fuzz/bad-input.spec.ts',
  'e2e/replicas-losses.postgres.spec.ts',
  'contract/documented-bounds.spec.ts',
  'example/batch.spec.ts',
];

/**
 * Begins with the longest suites, so that none runs alone at the end. In a new checkout Jest knows no durations, and would
 * begin with the largest files.
 */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const position = ({ path }) => {
      const found = LONGEST.indexOf(relative(TESTS, path));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(tests)).toSorted((a, b) => position(a) - position(b));
  }
}
