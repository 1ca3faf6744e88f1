import { join } from 'node:path';

import { defineConfig } from 'vite';

const built = (file: string): string => join(import.meta.dirname, 'dist', file);

/** Packages of many small files, and what they import. Only the program uses them: agents share no object of theirs with it. */
const INSIDE = [
  ...['kysely', /^@bufbuild\//, 'yaml', 'uuid', 'csv-stringify'],
  ...['ajv', 'ajv-formats', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
];

/**
 * Puts the built modules of the program into a few files, which Node.js loads in less time than a thousand. Other packages
 * stay outside. All entries are of one bundle, so that functions that import this package get the classes of the program.
 */
export default defineConfig({
  ssr: { noExternal: INSIDE },
  // Nothing but the program belongs into the folder.
  publicDir: false,
  build: {
    ssr: true,
    outDir: built('bundle'),
    target: 'node24',
    minify: false,
    license: { fileName: 'LICENSES.md' },
    rolldownOptions: {
      input: {
        'evaluation-entry': built('cel/sandbox/evaluation-entry.js'),
        index: built('index.js'),
        'ordered-process': built('cli/watch/ordered-process.js'),
        program: built('cli/program.js'),
        testing: built('testing/testing.js'),
      },
      // Injection, the OpenAPI document and messages use the names of classes. Names of files stay the same after a build,
      // because a running process loads some of them later. Docstrings would be a sixth of the files.
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        keepNames: true,
        comments: { jsdoc: false },
      },
    },
  },
});
