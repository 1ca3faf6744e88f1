import { globSync } from 'node:fs';
import { builtProgram } from '../support/built-program.js';
import { notRunIn, stepsOf } from './page.js';
import { Walk } from './walk.js';

const PAGES = globSync('{*,{docs,examples}/**/*}.md').filter((page) => stepsOf(page).length > 0).sort();
/** Pages mostly wait: for a start, an answer, an agent. */
const AT_A_TIME = 3;
const MOST_REASONS = 15;

// Real: the commands and files of the pages themselves, the built program as a process, the compiler, HTTP. Nothing is faked.
describe('the commands and examples of the documentation', () => {
  const walks = new Map(PAGES.map((page) => [page, new Walk(page)]));
  const outcomes = new Map(PAGES.map((page) => [page, Promise.withResolvers<void>()]));

  beforeAll(async () => {
    await builtProgram();
    const pages = walks.entries();
    for (let worker = 0; worker < AT_A_TIME; worker++) void walkAll(pages);
  });
  afterAll(() => walks.forEach((walk) => walk.removeFolders()));

  async function walkAll(pages: Iterable<[string, Walk]>): Promise<void> {
    for (const [page, walk] of pages) {
      const { resolve, reject } = outcomes.get(page)!;
      await walk.walk().then(resolve, reject);
      await walk.end();
    }
  }

  test.each(PAGES)('do what %s says', (page) => outcomes.get(page)!.promise);

  test('are TypeScript that compiles, where they are TypeScript', () => Walk.checkTypes([...walks.values()]));

  test(`are run, but for ${MOST_REASONS} reasons at most`, () => {
    const reasons = notRunIn(PAGES);
    process.stdout.write(`Not run:\n${reasons.map((one) => `  ${one}\n`).join('')}`);
    expect(reasons.length).toBeLessThanOrEqual(MOST_REASONS);
  });
});
