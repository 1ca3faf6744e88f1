import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Imports that exist at run time: types are erased. */
const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?from '(\.[^']+)';/gm;

const importedBy = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path]) => normalize(join(dirname(file), path!)));

/** Returns these files, and all that they import. */
function reached(from: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const left = [...from];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue;
    found.set(file, importedBy(file));
    left.push(...found.get(file)!.filter((path) => existsSync(path)));
  }
  return found;
}

test('files that Node.js runs as they are name the files that they import, because only the tests map .js to .ts', () => {
  const files = reached(globSync(['bench/*.ts', 'scripts/*.ts', 'dashboard/*.ts']));
  expect(files.size).toBeGreaterThan(40);
  const missing = [...files].flatMap(([file, imports]) =>
    imports.filter((path) => !existsSync(path)).map((path) => `${file} imports ${path}`),
  );
  expect(missing).toEqual([]);
});
