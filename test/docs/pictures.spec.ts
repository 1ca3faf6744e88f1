import { globSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';

import { readMarkdown } from './markdown.js';

const FOLDER = 'docs/pictures';
const MOST_BYTES = 100_000;
const MOST_BYTES_OF_ALL = 1_300_000;

const files = globSync(`${FOLDER}/*`);
const shownIn = (page: string): string[] =>
  [...readMarkdown(page).matchAll(/!\[[^\]]+\]\((?:docs\/)?pictures\/([^)]+)\)/g)].map(([, name]) => name!);

describe('the pictures of the dashboard', () => {
  it('show every view', () => {
    const views = [...readFileSync('dashboard/src/views.ts', 'utf8').matchAll(/import\('\.\/views\/([\w-]+)'\)/g)];
    expect(views.length).toBeGreaterThan(10);
    expect(shownIn('docs/dashboard.md')).toEqual(expect.arrayContaining(views.map(([, view]) => `${view}.webp`)));
  });

  it('are all on the page', () => {
    expect(shownIn('docs/dashboard.md').sort()).toEqual(files.map((file) => basename(file)).sort());
  });

  it('include one on the first screen of the README', () => {
    const [text] = readMarkdown('README.md').split('## What it does');
    expect(text).toMatch(/!\[[^\]]+\]\(docs\/pictures\//);
  });

  it('are small', () => {
    const sizes = files.map((file) => ({ file, bytes: statSync(file).size }));
    expect(sizes.filter(({ bytes }) => bytes > MOST_BYTES)).toEqual([]);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MOST_BYTES_OF_ALL);
  });
});
