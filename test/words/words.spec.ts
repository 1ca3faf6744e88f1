// Real: the files of the repository.
import { readFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { basename } from 'node:path';

import { REPLACED, REPLACED_FILE_NAMES, type ReplacedWord } from './words.js';

const SOURCES = globSync('src/**/*.ts').sort();
const TEXTS = new Map(
  [...SOURCES, ...globSync('docs/*.md').sort(), 'README.md', 'schema/starling.schema.json'].map((file) => [
    file,
    readFileSync(file, 'utf8'),
  ]),
);

const concerns = ({ within, except = [] }: ReplacedWord, file: string): boolean =>
  (within?.test(file) ?? true) && !except.some((one) => one.file.test(file));

function placesOf(word: ReplacedWord): string[] {
  return [...TEXTS].flatMap(([file, text]) => {
    if (!concerns(word, file) || !word.pattern.test(text)) return [];
    return text
      .split('\n')
      .flatMap((line, index) =>
        word.pattern.test(line) ? [`${file}:${index + 1}: write ${word.instead}: ${line.trim()}`] : [],
      );
  });
}

describe('words that terms of the field have replaced', () => {
  it.each(REPLACED.map((word) => [String(word.pattern), word] as const))('%s is not written any more', (_, word) => {
    expect(word.example).toMatch(word.pattern);
    expect(placesOf(word)).toEqual([]);
  });

  it('have exceptions only for files that exist', () => {
    const files = [...TEXTS.keys()];
    const unused = REPLACED.flatMap(({ except = [] }) => except).filter(
      ({ file }) => !files.some((one) => file.test(one)),
    );
    expect(unused).toEqual([]);
  });
});

describe('names of source files', () => {
  it('differ from each other', () => {
    const byName = Map.groupBy(SOURCES, (file) => basename(file));
    expect([...byName.values()].filter((files) => files.length > 1)).toEqual([]);
  });

  it('say what a file holds', () => {
    expect(SOURCES.filter((file) => REPLACED_FILE_NAMES.test(basename(file)))).toEqual([]);
  });
});
