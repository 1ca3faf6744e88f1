import { globSync, readFileSync } from 'node:fs';

const FILES = globSync('{src,test,bench,docs,examples,deploy,bin}/**/*.*').concat(globSync('*.md'));
const SOURCES = globSync('{src,test,bench}/**/*.ts');

const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)$/;
/** A path, or a document's name alone. */
const NAMED = /(?<![\w./<-])(?:[\w-]+\/)+[\w-][\w.-]*\.(?:ts|md)\b|(?<![\w./<-])[\w-]+\.md\b/g;

const namedIn = (source: string): string[] =>
  readFileSync(source, 'utf8')
    .split('\n')
    .flatMap((line) => COMMENT.exec(line)?.[1]?.match(NAMED) ?? []);

const exists = (named: string): boolean => FILES.some((file) => file === named || file.endsWith(`/${named}`));

test('files that comments name exist', () => {
  const stale = SOURCES.flatMap((source) =>
    namedIn(source)
      .filter((named) => !exists(named))
      .map((named) => `${source}: ${named}`),
  );
  expect(stale).toEqual([]);
});
