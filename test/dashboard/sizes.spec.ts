// Reads the files of the built web app, and the figures in docs/performance.md.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { builtDashboard } from '../support/built-program.js';

const KB = 1_000;
const FIRST_VIEW_BYTES = 180 * KB;
const LAZY_VIEW_BYTES = 100 * KB;

const VIEWS = [...readFileSync('dashboard/src/views.ts', 'utf8').matchAll(/import\('\.\/views\/([\w-]+)'\)/g)].map(
  ([, name]) => name!,
);

describe('the files of the web app, as gzip', () => {
  let folder: string;
  let names: string[];
  /** The files that the page itself loads. */
  let first: Set<string>;

  beforeAll(async () => {
    const built = await builtDashboard();
    folder = join(built, 'assets');
    names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name));
    first = new Set(
      [...readFileSync(join(built, 'index.html'), 'utf8').matchAll(/assets\/([\w.-]+)"/g)].map(([, name]) => name!),
    );
  });

  const bytesOf = (files: Iterable<string>): number =>
    [...files].reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);

  /** A file, and all that it loads in the end: other scripts, workers and styles. `pattern` finds their names. */
  const loadedBy = (name: string, pattern: RegExp): Set<string> => {
    const loaded = new Set([name]);
    for (const one of loaded)
      for (const [, other] of readFileSync(join(folder, one), 'utf8').matchAll(pattern))
        if (names.includes(other!) && !first.has(other!)) loaded.add(other!);
    return loaded;
  };

  /** The script that the page loads for a view. Other scripts may have the same name before their hash. */
  const fileOf = (view: string): string => {
    const scripts = [...first]
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const name = new RegExp(`import\\([\`"']\\./(${view}-[\\w-]{8}\\.js)`);
    return scripts.map((script) => name.exec(script)?.[1]).find((found) => found !== undefined)!;
  };

  /** With what it needs before it is drawn, and also with the parts that come later, such as the form of a payload. */
  const bytesOfView = (view: string): { atFirst: number; inAll: number } => {
    const parts = lazyPartsOf(`dashboard/src/views/${view}.tsx`).map((part) =>
      names.find((name) => name.startsWith(`${part}-`))!,
    );
    const loaded = [fileOf(view), ...parts].flatMap((name) => [...loadedBy(name, /\b([\w.-]+\.(?:js|css))\b/g)]);
    return {
      atFirst: bytesOf(first) + bytesOf(loadedBy(fileOf(view), /(?:from|import)"\.\/([\w.-]+)"/g)),
      inAll: bytesOf(new Set(loaded)),
    };
  };

  it.each(VIEWS)(
    `are at most ${FIRST_VIEW_BYTES / KB} kB for the view if it is the first, and ${LAZY_VIEW_BYTES / KB} kB if it comes later: %s`,
    (view) => {
      const { atFirst, inAll } = bytesOfView(view);
      expect(atFirst).toBeLessThan(FIRST_VIEW_BYTES);
      expect(inAll).toBeLessThan(LAZY_VIEW_BYTES);
    },
  );

  it('are what docs/performance.md says, within a twentieth', () => {
    const table = readFileSync('docs/performance.md', 'utf8').split('| view | bytes as gzip |')[1]!.split('\n\n')[0]!;
    const said = Object.fromEntries(
      [...table.matchAll(/^\| ([\w -]+) \| ([\d.]+) kB \|$/gm)].map(([, name, kilobytes]) => [name, Number(kilobytes)]),
    );
    const measured = {
      'the page itself': bytesOf(first),
      ...Object.fromEntries(VIEWS.map((view) => [view, bytesOfView(view).inAll])),
    };
    const lines = Object.entries(measured).map(([name, bytes]) => `| ${name} | ${(bytes / KB).toFixed(1)} kB |`);
    const isRight = Object.entries(measured).every(([name, bytes]) => Math.abs(said[name]! * KB - bytes) <= bytes / 20);
    if (!isRight) expect(table.split('\n').slice(2)).toEqual(lines);
  });
});

const EXTENSIONS = ['.tsx', '.ts'];

/** The names of the modules that a source file, or one that it imports, loads only when they are shown. */
function lazyPartsOf(file: string, seen = new Set<string>()): string[] {
  // Links import the list of views, which loads each of them.
  if (seen.has(file) || file === 'dashboard/src/views.ts') return [];
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  const modules = (pattern: RegExp): string[] =>
    [...source.matchAll(pattern)].map(([, path]) => join(dirname(file), path!));
  const lazy = modules(/import\('(\.[^']+)'\)/g).map((path) => basename(path));
  const imported = modules(/from '(\.[^']+)'/g).flatMap(
    (path) => EXTENSIONS.map((extension) => path + extension).find((one) => existsSync(one)) ?? [],
  );
  return [...new Set([...lazy, ...imported.flatMap((path) => lazyPartsOf(path, seen))])];
}
