// Uses the application, the OpenAPI document that it serves, and docs/api.md.
import type { OpenAPIObject } from '@nestjs/swagger';

import { readMarkdown } from '../docs/markdown.js';
import { startApp, type TestApp } from '../support/app.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ config: 'types: {}' });
});
afterAll(() => app.close());

it('docs/api.md lists exactly the routes of the OpenAPI document', async () => {
  const { paths } = (await app.http.get('/openapi.json').expect(200)).body as OpenAPIObject;
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const [, section] = readMarkdown('docs/api.md').split('\n## The routes\n') as [string, string];
  const listed = [...section.split('\n## ')[0]!.matchAll(/^\| `([A-Z]+ \/\S*)` \|/gm)].map(([, route]) => route!);
  expect(listed.sort()).toEqual(routes.sort());
});
