import { readFileSync } from 'node:fs';

interface Package {
  optionalDependencies?: Record<string, string>;
}

/** Where npm looks for a package that `from` needs: beside it and in every folder above. */
function* places(from: string, name: string): Generator<string> {
  const parts = from.split('/node_modules/');
  for (let depth = parts.length; depth > 0; depth -= 1)
    yield `${parts.slice(0, depth).join('/node_modules/')}/node_modules/${name}`;
  yield `node_modules/${name}`;
}

test('the lock file has the optional packages of every platform, else `npm ci` refuses it', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Package> };
  const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => ![...places(from, name)].some((place) => place in packages)),
  );
  expect(missing).toEqual([]);
});
