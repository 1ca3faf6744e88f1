import { globSync } from 'node:fs';

import { builtProgram } from '../support/built-program.js';
import { hasInstalledPostgres, type InstalledPostgres, startInstalledPostgres } from './installed-postgres.js';
import { notRunIn, stepsOf } from './page.js';
import { Walk } from './walk.js';

/** Pages that dump and restore a Postgres database, for which pg_dump has to be installed. */
const OPERATIONS = 'docs/operations.md';
/** `npm run test:first-hour` does what this page shows, and writes it. */
const FIRST_HOUR = 'docs/first-hour.md';
const PAGES = globSync('{*,{docs,examples}/**/*}.md')
  .filter((page) => page !== FIRST_HOUR && stepsOf(page).length > 0 && (hasInstalledPostgres || page !== OPERATIONS))
  .sort();
/** Pages mostly wait: for a start, an answer, an agent. */
const AT_A_TIME = 3;
const MOST_REASONS = 15;

// Runs the commands and files of the pages, the built program as a process, databases, the compiler and HTTP. Nothing
// is faked.
describe('the commands and examples of the documentation', () => {
  let postgres: InstalledPostgres | null;
  const walks: Walk[] = [];
  const outcomes = new Map(PAGES.map((page) => [page, Promise.withResolvers<void>()]));

  beforeAll(async () => {
    await builtProgram();
    postgres = await startInstalledPostgres(['starling', 'restored']);
    const pages = PAGES.values();
    for (let walker = 0; walker < AT_A_TIME; walker++) void walkAll(pages);
  });
  afterAll(() => {
    walks.forEach((walk) => walk.removeFolders());
    postgres?.stop();
  });

  async function walkAll(pages: Iterable<string>): Promise<void> {
    for (const page of pages) {
      const { resolve, reject } = outcomes.get(page)!;
      const walk = new Walk(
        page,
        page === OPERATIONS && postgres
          ? { POSTGRES_URL: postgres.url('starling'), RESTORED_URL: postgres.url('restored') }
          : {},
      );
      walks.push(walk);
      await walk.walk().then(resolve, reject);
      await walk.end();
    }
  }

  test.each(PAGES)('work as %s says', (page) => outcomes.get(page)!.promise);

  test('compile, if they are TypeScript', () => Walk.checkTypes(walks));

  test(`are run, except for at most ${MOST_REASONS} reasons`, () => {
    const reasons = notRunIn(PAGES);
    if (!hasInstalledPostgres) reasons.push(`pg_dump and a server of its version are not installed (${OPERATIONS})`);
    process.stdout.write(`Not run:\n${reasons.map((one) => `  ${one}\n`).join('')}`);
    expect(reasons.length).toBeLessThanOrEqual(MOST_REASONS);
  });
});
