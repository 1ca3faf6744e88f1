import { readFileSync } from 'node:fs';

/** Returns the fenced blocks of one language in a markdown text, in their order. */
export const blocksOf = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter((block) => block[1] === language).map((block) => block[2]!);

export const readMarkdown = (path: string): string => readFileSync(path, 'utf8');

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\\(.)/g, '$1')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
