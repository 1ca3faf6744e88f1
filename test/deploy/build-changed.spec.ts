import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { isStale } from '../../scripts/build-changed.js';

const ROOT = resolve(import.meta.dirname, '../..');

// Uses separate files, because a change of the real sources would make other tests build them again.
test('npm start builds what was never built, and what has a source that is newer than its build', () => {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tmp/build-changed-'));
  const stamp = join(folder, 'built');
  const sources = join(folder, 'sources');
  const source = join(sources, 'deep/source.ts');
  mkdirSync(join(sources, 'deep'), { recursive: true });
  writeFileSync(source, '');
  const target = { script: 'build', stamp, sources: [`.tmp/${basename(folder)}/sources`], alsoBuilds: [] };
  const at = (file: string, seconds: number): void => utimesSync(file, seconds, seconds);

  expect(isStale(target)).toBe(true);
  writeFileSync(stamp, '');
  for (const file of [source, join(sources, 'deep'), sources]) at(file, 1_000);
  at(stamp, 2_000);
  expect(isStale(target)).toBe(false);
  at(source, 3_000);
  expect(isStale(target)).toBe(true);
  rmSync(folder, { recursive: true });
});
