// Compiles the project's TypeScript when it is imported. Node itself removes types only, and has no decorators.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { transformFileSync } from '@swc/core';

const OPTIONS = {
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
  configFile: false,
  swcrc: false,
};

registerHooks({ resolve, load });
process.setSourceMapsEnabled(true);

/** An import names the file that TypeScript would make, and one of the dashboard's code has no extension. */
function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && isOurs(context.parentURL)) {
    const url = new URL(specifier.replace(/\.js$/, '') + '.ts', context.parentURL);
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

function load(url, context, next) {
  if (!isOurs(url)) return next(url, context);
  const { code } = transformFileSync(fileURLToPath(new URL(url)), OPTIONS);
  return { source: code, format: 'module', shortCircuit: true };
}

const PROJECT = new URL('../../', import.meta.url).href;

const isOurs = (url) =>
  url?.startsWith(PROJECT) && !url.includes('/node_modules/') && /\.ts$/.test(new URL(url).pathname);

// A worker ends when the run is killed.
process.on('disconnect', () => process.exit());
