import { join } from 'node:path';

import { defineConfig } from 'vite';

const built = (file: string): string => join(import.meta.dirname, 'dist', file);

/**
 * Puts the built modules of the program into a few files, which Node.js loads in less time than a thousand. Packages stay
 * outside. All entries are of one bundle, so that functions that import this package get the classes of the program.
 */
export default defineConfig({
  // Nothing but the program belongs into the folder.
  publicDir: false,
  build: {
    ssr: true,
    outDir: built('bundle'),
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: {
        'evaluation-entry': built('cel/sandbox/evaluation-entry.js'),
        index: built('index.js'),
        'ordered-process': built('cli/watch/ordered-process.js'),
        program: built('cli/program.js'),
        testing: built('testing/testing.js'),
      },
      // Injection, the OpenAPI document and messages use the names of classes. Names of files stay the same after a build,
      // because a running process loads some of them later.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', keepNames: true },
    },
  },
});
