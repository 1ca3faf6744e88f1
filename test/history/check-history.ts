// npm run check-history -- <file>: checks a history that a round of test/faults/replicas.postgres.spec.ts has written. It
// uses no code of the service, and none of the suite.
import { readFileSync } from 'node:fs';

import { check } from './check.ts';

const MOST_LINES = 50;
const [file, ...others] = process.argv.slice(2);

try {
  if (file === undefined || others.length > 0) throw new Error('name one history file');
  const { operations, breaches } = check(readFileSync(file, 'utf8'));
  for (const breach of breaches.slice(0, MOST_LINES)) console.log(breach);
  console.log(`${operations} operations, ${breaches.length} broken promises`);
  process.exitCode = breaches.length === 0 ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
