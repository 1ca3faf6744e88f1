import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { anchorOf, readMarkdown } from './markdown.js';

const DOCUMENTS = globSync('{*,{docs,examples}/**/*}.md');

const withoutCode = (markdown: string): string => markdown.replace(/^```.*?^```$/gms, '');

const linksIn = (document: string): string[] =>
  [...withoutCode(readMarkdown(document)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((link) => link[1]!)
    .filter((link) => !/^https?:/.test(link));

const anchorsIn = (document: string): string[] =>
  [...withoutCode(readMarkdown(document)).matchAll(/^#+ (.+)$/gm)].map((heading) => anchorOf(heading[1]!));

function isDead(document: string, link: string): boolean {
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path === '' ? document : join(dirname(document), path);
  return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
}

test.each(DOCUMENTS)('every link of %s leads to a file, and to a heading in it', (document) => {
  expect(linksIn(document).filter((link) => isDead(document, link))).toEqual([]);
});
