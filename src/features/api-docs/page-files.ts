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

/** What the two pages load, each read when it is first asked for. */
const READERS: Record<string, () => PageFile> = {
  'swagger-ui-bundle.js': () => script(swaggerFile('swagger-ui-bundle.js')),
  'swagger-ui.css': () => ({ contentType: 'text/css; charset=utf-8', content: swaggerFile('swagger-ui.css') }),
  'favicon-32x32.png': () => ({ contentType: 'image/png', content: swaggerFile('favicon-32x32.png') }),
  'start-swagger-ui.js': () => script(START_SWAGGER_UI),
  'redoc.standalone.js': () => script(withoutRemoteLogo(readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8'))),
  'start-redoc.js': () => script(START_REDOC),
};

const read = new Map<string, PageFile>();

/** `undefined` where no page loads a file of this name. */
export function pageFile(name: string): PageFile | undefined {
  if (!read.has(name) && Object.hasOwn(READERS, name)) read.set(name, READERS[name]!());
  return read.get(name);
}

/** Redoc's own name stays in its footer; its logo would be fetched from elsewhere. */
const withoutRemoteLogo = (bundle: string): string =>
  bundle.replace('https://cdn.redoc.ly/redoc/logo-mini.svg', '/docs/favicon-32x32.png');
