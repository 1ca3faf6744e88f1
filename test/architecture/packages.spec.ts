import { readFileSync } from 'node:fs';

interface Package {
  optionalDependencies?: Record<string, string>;
}

/** Returns the folders in which npm looks for a package that `from` needs: its own folder and every folder above it. */
function* places(from: string, name: string): Generator<string> {
  const parts = from.split('/node_modules/');
  for (let depth = parts.length; depth > 0; depth -= 1)
    yield `${parts.slice(0, depth).join('/node_modules/')}/node_modules/${name}`;
  yield `node_modules/${name}`;
}

test('the lock file has the optional packages of every platform, because `npm ci` refuses it otherwise', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Package> };
  const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => ![...places(from, name)].some((place) => place in packages)),
  );
  expect(missing).toEqual([]);
});
