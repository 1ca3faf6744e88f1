// Reads the files of the repository.
import { readFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { basename } from 'node:path';

import {
  REPLACED,
  REPLACED_FILE_NAMES,
  type ReplacedWord,
  UNCLEAR_COMMENTS,
  UNCLEAR_TEXTS,
  type UnclearEnglish,
} from './words.js';

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

describe('words that standard terms have replaced', () => {
  it.each(REPLACED.map((word) => [String(word.pattern), word] as const))('%s is no longer used', (_, word) => {
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

  it('say what a file contains', () => {
    expect(SOURCES.filter((file) => REPLACED_FILE_NAMES.test(basename(file)))).toEqual([]);
  });
});

// words.ts quotes the texts that it rules out.
const CODE = globSync(['src/**/*.ts', 'dashboard/src/**/*.{ts,tsx}', 'test/**/*.{ts,js}', 'bench/**/*.ts'], {
  exclude: ['test/words/words.ts'],
})
  .sort()
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

/** Matches a whole comment: a block, or line comments on consecutive lines. */
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:(?<=^|\s)\/\/ .*(?:\n[ \t]*(?=\/\/ ))?)+/gm;
/** Matches the title of a suite or a test, after the rows of its table if it has one. */
const TITLE = /(?:\b(?:describe|it|test)|[\])])\(\s*(?<quote>['"`])(?<title>(?:(?!\k<quote>)[^\n\\]|\\.)*)\k<quote>,/g;

const commentsIn = (text: string): string[] =>
  [...text.matchAll(COMMENT)].map(([comment]) =>
    comment
      .replaceAll(/^\s*(?:\/\*\*|\*\/|\*(?!\/)|\/\/)|\*\/$/gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
const titlesIn = (text: string): string[] => [...text.matchAll(TITLE)].map(({ groups }) => groups!.title!);

/** The sentences of a page, without its fenced blocks and its hidden commands. */
const PAGES = globSync(['docs/*.md', '*.md'])
  .sort()
  .map((file) => ({ file, text: readFileSync(file, 'utf8').replaceAll(/^```[\s\S]*?^```|<!--[\s\S]*?-->/gm, '') }));
/** Matches a text between quotes that is not a single word. */
const MESSAGE = /'(?:[^'\n\\]|\\.)+ (?:[^'\n\\]|\\.)+'|`[^`\n]+ [^`\n]+`/g;

const paragraphsIn = (text: string): string[] =>
  text.split('\n\n').map((paragraph) => paragraph.replaceAll(/\s+/g, ' '));
const messagesIn = (text: string): string[] => [...text.matchAll(MESSAGE)].map(([message]) => message);

describe('comments, titles of tests, messages and pages', () => {
  const found = (
    { pattern, instead, within = /(?:)/ }: UnclearEnglish,
    files: { file: string; text: string }[],
    textsIn: (text: string) => string[],
  ): string[] =>
    files
      .filter(({ file }) => within.test(file))
      .flatMap(({ file, text }) =>
        textsIn(text).flatMap((one) => (pattern.test(one) ? [`${file}: write ${instead}: ${one}`] : [])),
      );

  it.each(UNCLEAR_COMMENTS.map((rule) => [String(rule.pattern), rule] as const))('no comment matches %s', (_, rule) => {
    expect(rule.example).toMatch(rule.pattern);
    expect(found(rule, CODE, commentsIn)).toEqual([]);
  });

  it.each(UNCLEAR_TEXTS.map((rule) => [String(rule.pattern), rule] as const))('no text matches %s', (_, rule) => {
    expect(rule.example).toMatch(rule.pattern);
    expect([
      ...found(rule, CODE, (text) => [...commentsIn(text), ...titlesIn(text)]),
      ...found(
        rule,
        CODE.filter(({ file }) => file.startsWith('src/')),
        messagesIn,
      ),
      ...found(rule, PAGES, paragraphsIn),
    ]).toEqual([]);
  });

  it('are found in the files', () => {
    const count = (textsIn: (text: string) => string[]): number => CODE.flatMap(({ text }) => textsIn(text)).length;
    expect(count(commentsIn)).toBeGreaterThan(1_000);
    expect(count(titlesIn)).toBeGreaterThan(1_000);
  });
});
