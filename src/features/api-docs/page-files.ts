import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageFile } from '../../common/package-files.js';

export interface PageFile {
  contentType: string;
  content: string | Buffer;
}

/** The build copies the files of other packages here, because those packages bring much more than what the pages load. */
const FOLDER = packageFile('dist/page-files');

const script = (content: string | Buffer): PageFile => ({ contentType: 'text/javascript; charset=utf-8', content });
const swaggerFile = (name: string): Buffer => readFileSync(join(FOLDER, 'swagger-ui-files', name));

/** The files that the documentation pages load. Each is read on the first request for it. */
const READERS: Record<string, () => PageFile> = {
  'swagger-ui-bundle.js': () => script(swaggerFile('swagger-ui-bundle.js')),
  'swagger-ui.css': () => ({ contentType: 'text/css; charset=utf-8', content: swaggerFile('swagger-ui.css') }),
  'favicon-32x32.png': () => ({ contentType: 'image/png', content: swaggerFile('favicon-32x32.png') }),
  'start-swagger-ui.js': () => script(START_SWAGGER_UI),
  'redoc.standalone.js': () =>
    script(withoutRemoteLogo(readFileSync(join(FOLDER, 'redoc/bundles/redoc.standalone.js'), 'utf8'))),
  'start-redoc.js': () => script(START_REDOC),
};

const read = new Map<string, PageFile>();

/** Returns `undefined` if no page loads a file with this name. */
export function pageFile(name: string): PageFile | undefined {
  if (!read.has(name) && Object.hasOwn(READERS, name)) read.set(name, READERS[name]!());
  return read.get(name);
}

/** Replaces the logo in Redoc's footer, which browsers would load from another host. The text beside it stays. */
const withoutRemoteLogo = (bundle: string): string =>
  bundle.replace('https://cdn.redoc.ly/redoc/logo-mini.svg', '/docs/favicon-32x32.png');

/**
 * Moves the examples of optional parameters into their descriptions. Swagger UI would otherwise send all of them: every
 * filter of a list, and the same idempotency key each time. Without `validatorUrl: null` it sends the address of the
 * document to swagger.io.
 */
const START_SWAGGER_UI = `function describeExample(parameter) {
  if (parameter.required) return parameter;
  const { example, schema, ...rest } = parameter;
  const { example: schemaExample, ...restOfSchema } = schema;
  const text = JSON.stringify(example ?? schemaExample);
  return { ...rest, schema: restOfSchema, description: text ? parameter.description + ' Example: \`' + text + '\`' : parameter.description };
}

function leaveOptionalParametersEmpty(document) {
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    operation.parameters = operation.parameters?.map(describeExample);
  }
  return document;
}

const emptyParameters = () => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(leaveOptionalParametersEmpty(document)) } } },
});

window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [emptyParameters],
});
`;

/** Search is off because it runs in a worker made from a blob, which the content security policy forbids. */
const START_REDOC = `Redoc.init('/openapi.json', { disableSearch: true }, document.getElementById('redoc'));
`;
