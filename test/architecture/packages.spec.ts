import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { extname } from 'node:path';

import ts from 'typescript';

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** Packages that no file imports, and the use of each. */
const USED_OTHERWISE: Record<string, string> = {
  '@modelcontextprotocol/server-everything': 'test/engines/llm starts it as a program',
  '@nestjs/cli': 'npm run build runs nest',
  '@types/jest': 'the types of what jest makes global',
  '@types/node': 'the types of Node.js',
  'axe-core': 'test/support/page-checks.ts puts its file into pages',
  eslint: 'npm run lint runs it',
  jest: 'npm test runs it',
  node: 'runs the scripts',
  prettier: 'npm run format runs it',
  redoc: 'nest-cli.json copies its files',
  'swagger-ui-dist': 'takes the place of a package that reports installations',
  'swagger-ui-files': 'nest-cli.json copies its files',
};

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const { name: OWN_NAME, dependencies, peerDependencies, devDependencies } = MANIFEST;
const DECLARED = Object.keys({ ...dependencies, ...devDependencies });

const namesIn = (file: string): string[] => {
  const text = readFileSync(file, 'utf8');
  const specifiers =
    extname(file) === '.css'
      ? [...text.matchAll(/@import '([^']+)'/g)].map(([, specifier]) => specifier!)
      : ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return specifiers
    .filter((specifier) => /^[@a-z]/.test(specifier) && !isBuiltin(specifier))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0]);
};

const importedIn = (...patterns: string[]): Map<string, string> =>
  new Map(globSync(patterns).flatMap((file) => namesIn(file).map((name) => [name, file])));

const OF_THE_PROGRAM = importedIn('src/**/*.ts', 'bin/*.js');
const IMPORTED = importedIn(
  '{src,bin,bench,dashboard,test}/**/*.{ts,tsx,js,mjs,css}',
  'examples/*/**/*.{ts,mjs}',
  '*.js',
  '.eslintrc.js',
);

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

test('each import names a package that package.json declares, and the program imports no devDependency', () => {
  const undeclared = [...IMPORTED].filter(([name]) => name !== OWN_NAME && !DECLARED.includes(name));
  expect(undeclared).toEqual([]);
  expect([...OF_THE_PROGRAM].filter(([name]) => !(name in { ...dependencies, ...peerDependencies }))).toEqual([]);
});

test('each package of package.json is imported, or has another use', () => {
  /** `@types/pg` has the types of `pg`. */
  const typed = (name: string): string => name.replace(/^@types\//, '');
  const unused = DECLARED.filter((name) => !IMPORTED.has(typed(name)));
  expect(unused.filter((name) => !(name in USED_OTHERWISE))).toEqual([]);
  expect(Object.keys(USED_OTHERWISE).filter((name) => !unused.includes(name))).toEqual([]);
});
