import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

import { LICENSES, missingLicenses } from '../licenses/missing-licenses.ts';

const OUT = join(import.meta.dirname, '../dist/dashboard');

/** A running service, for `npm run dev:dashboard`. */
const SERVICE = process.env.STARLING_URL ?? 'http://127.0.0.1:8344';

const SHARED =
  /dashboard\/src\/(?:api|app|components|live)\/[\w.-]+\.tsx?$|dashboard\/src\/[\w.-]+\.ts$|node_modules\/@tanstack\/(?:react-)?virtual/;

/** Writes `.br` and `.gz` beside each hashed file, which the service sends as they are. */
const precompress = (): Plugin => ({
  name: 'precompress',
  apply: 'build',
  closeBundle() {
    for (const name of readdirSync(join(OUT, 'assets'))) {
      const path = join(OUT, 'assets', name);
      const content = readFileSync(path);
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    }
  },
});

export default defineConfig(({ command }) => {
  // Tests build the app as it is delivered, although Jest sets this to `test`.
  if (command === 'build') process.env.NODE_ENV = 'production';
  return {
    root: import.meta.dirname,
    // A built page refers to its files relatively, so that it works under a proxy's prefix.
    base: command === 'build' ? './' : '/dashboard/',
    plugins: [react(), tailwindcss(), missingLicenses(['@dagrejs/dagre', '@dagrejs/graphlib']), precompress()],
    build: {
      outDir: OUT,
      emptyOutDir: true,
      // The content security policy allows neither inline scripts nor data URLs for them.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      license: { fileName: LICENSES },
      rolldownOptions: {
        output: {
          // One file with what several views use. It is loaded with the page, so that a view has one more file and not ten.
          codeSplitting: { groups: [{ name: 'shared', test: SHARED, minShareCount: 2 }] },
        },
      },
    },
    worker: { format: 'es' },
    server: {
      // Where `localhost` is an IPv6 address first, Vite would not listen on the address that the README names.
      host: '127.0.0.1',
      port: 8345,
      // The service refuses requests from another origin.
      proxy: Object.fromEntries(
        ['/api', '/agents', '/run', '/batch', '/health', '/openapi.json', '/docs', '/metrics'].map((path) => [
          path,
          { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } },
        ]),
      ),
    },
  };
});
