import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';

import { defineConfig, type Plugin, type UserConfig } from 'vite';

import { LICENSES, missingLicenses } from './licenses/missing-licenses.ts';

const file = (path: string): string => join(import.meta.dirname, path);
const { peerDependencies } = JSON.parse(readFileSync(file('package.json'), 'utf8')) as {
  peerDependencies: Record<string, string>;
};

/**
 * The commands: `npm run build:bundle` puts the built modules and their packages into a few files, which Node.js loads in
 * less time than two thousand. Outside stay packages that users add, that the first request for them loads, or of which
 * single files are loaded (src/http/validation/class-validator.ts).
 */
const PROGRAM: Bundle = {
  folder: 'dist/bundle',
  entries: ['cel/sandbox/evaluation-entry', 'cli/program', 'cli/watch/ordered-process'],
  ssr: { noExternal: true, external: [...Object.keys(peerDependencies), 'class-validator', 'undici'] },
};

/**
 * What programs and tests of users import. Their modules share the packages with it: a `HttpException` of another copy of NestJS would
 * be an unknown error. Only packages of many small files are inside, of which users' modules get no object.
 */
const LIBRARY: Bundle = {
  folder: 'dist/library',
  entries: ['cel/sandbox/evaluation-entry', 'index', 'testing/testing'],
  ssr: {
    noExternal: [
      ...['kysely', /^@bufbuild\//, 'yaml', 'uuid', 'csv-stringify'],
      ...['ajv', 'ajv-formats', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
    ],
  },
};

const HTTP = '\0http';

/**
 * An `import` of node:http reads all of its exports. Some of them load what Node.js has of undici then, which takes 10 MB and
 * 3 % of a start, and which nothing here uses.
 */
const httpWithoutUndici: Plugin = {
  name: 'http-without-undici',
  enforce: 'pre',
  resolveId: (id, _importer, { kind }) => (/^(node:)?http$/.test(id) && kind === 'import-statement' ? HTTP : null),
  load(id) {
    if (id !== HTTP) return null;
    const names = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(([, { get }]) => get === undefined);
    return `const http = process.getBuiltinModule('node:http');
      export default http;
      export const { ${names.map(([name]) => name).join(', ')} } = http;`;
  },
};

interface Bundle {
  folder: string;
  /** Modules in `dist`. */
  entries: string[];
  ssr: UserConfig['ssr'];
}

export default defineConfig(({ mode }) => {
  const { folder, entries, ssr } = mode === 'library' ? LIBRARY : PROGRAM;
  return {
    ssr,
    plugins: [httpWithoutUndici, missingLicenses()],
    // Nothing but the program belongs into the folder.
    publicDir: false,
    build: {
      ssr: true,
      outDir: file(folder),
      target: 'node24',
      minify: false,
      license: { fileName: LICENSES },
      rolldownOptions: {
        input: Object.fromEntries(entries.map((entry) => [entry.split('/').at(-1), file(`dist/${entry}.js`)])),
        // Injection, the OpenAPI document and messages use the names of classes. Names of files stay the same after a
        // build, because a running process loads some of them later. Docstrings would be a sixth of the files.
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name].js',
          keepNames: true,
          comments: { jsdoc: false },
        },
      },
    },
  };
});
