import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { START_REDOC, START_SWAGGER_UI } from './page-scripts.js';

export interface PageFile {
  contentType: string;
  content: string | Buffer;
}

const { resolve } = createRequire(import.meta.url);

const script = (content: string | Buffer): PageFile => ({ contentType: 'text/javascript; charset=utf-8', content });
const swaggerFile = (name: string): Buffer => readFileSync(resolve(`swagger-ui-dist/${name}`));

/** The files that the documentation pages load. Each is read on the first request for it. */
const READERS: Record<string, () => PageFile> = {
  'swagger-ui-bundle.js': () => script(swaggerFile('swagger-ui-bundle.js')),
  'swagger-ui.css': () => ({ contentType: 'text/css; charset=utf-8', content: swaggerFile('swagger-ui.css') }),
  'favicon-32x32.png': () => ({ contentType: 'image/png', content: swaggerFile('favicon-32x32.png') }),
  'start-swagger-ui.js': () => script(START_SWAGGER_UI),
  'redoc.standalone.js': () =>
    script(withoutRemoteLogo(readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8'))),
  'start-redoc.js': () => script(START_REDOC),
};

const read = new Map<string, PageFile>();

/** Returns `undefined` where no page loads a file with this name. */
export function pageFile(name: string): PageFile | undefined {
  if (!read.has(name) && Object.hasOwn(READERS, name)) read.set(name, READERS[name]!());
  return read.get(name);
}

/** Replaces the logo in Redoc's footer, which browsers would load from another host. The text beside it stays. */
const withoutRemoteLogo = (bundle: string): string =>
  bundle.replace('https://cdn.redoc.ly/redoc/logo-mini.svg', '/docs/favicon-32x32.png');
