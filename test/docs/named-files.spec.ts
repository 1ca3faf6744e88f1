import { existsSync, globSync, readFileSync } from 'node:fs';

const FILES = globSync('{src,test,bench,docs,examples,deploy,bin}/**/*.*').concat(globSync('*.md'));
const SOURCES = globSync('{src,test,bench}/**/*.ts');

const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)$/;
/** A path, or the name of a document. */
const NAMED = /(?<![\w./<-])(?:[\w-]+\/)+[\w-][\w.-]*\.(?:ts|md)\b|(?<![\w./<-])[\w-]+\.md\b/g;

const namedIn = (source: string): string[] =>
  readFileSync(source, 'utf8')
    .split('\n')
    .flatMap((line) => COMMENT.exec(line)?.[1]?.match(NAMED) ?? []);

const exists = (named: string): boolean => FILES.some((file) => file === named || file.endsWith(`/${named}`));

test('comments name only files that exist', () => {
  const stale = SOURCES.flatMap((source) =>
    namedIn(source)
      .filter((named) => !exists(named))
      .map((named) => `${source}: ${named}`),
  );
  expect(stale).toEqual([]);
});

/** Describes files of Flock. */
const OF_ANOTHER_PROJECT = 'docs/coming-from-flock.md';
const PAGES = globSync('{*,docs/*}.md')
  .filter((page) => page !== OF_ANOTHER_PROJECT)
  .sort();
const PATH_IN_PAGE = /`((?:src|test|bench|bin|deploy|examples|schema)\/[^`\s]*)`/g;

const pathsIn = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(PATH_IN_PAGE)].map(([, path]) => path!);

test('the documentation names files', () => {
  expect(pathsIn('docs/architecture.md').length).toBeGreaterThan(100);
});

test.each(PAGES)('paths that %s names exist', (page) => {
  expect(pathsIn(page).filter((path) => !existsSync(path))).toEqual([]);
});
