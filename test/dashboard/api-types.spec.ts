// Uses the OpenAPI document that the application serves, and the generator that makes the dashboard's types of it.
import { readFileSync, writeFileSync } from 'node:fs';

import openapiTS, { astToString } from 'openapi-typescript';

import { startApp } from '../support/app.js';

const FILE = 'dashboard/src/api/schema.d.ts';

const HEADER =
  '// The types of this API. `UPDATE_API_TYPES=1 npm test -- test/dashboard/api-types` writes this file.\n\n';

/** Parts that say nothing about types, so that a better wording does not change the file. */
const WORDS = new Set(['description', 'summary', 'example', 'examples', 'headers', 'tags', 'title']);

function typesOnly(part: unknown, isNamed = false): unknown {
  if (Array.isArray(part)) return part.map((item) => typesOnly(item));
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([key]) => isNamed || !(WORDS.has(key) || /^[45]\d\d$/.test(key)));
  return Object.fromEntries(kept.map(([key, value]) => [key, typesOnly(value, !isNamed && key === 'properties')]));
}

it(`${FILE} has the types of the OpenAPI document`, async () => {
  const app = await startApp({ config: 'types: {}' });
  const { body: document } = await app.http.get('/openapi.json').expect(200);
  await app.close();
  const { openapi, paths, components } = typesOnly(document) as Record<string, object>;
  const { schemas } = components as { schemas: object };
  const complete = { openapi, info: { title: '', version: '' }, paths, components: { schemas } };
  const types = HEADER + astToString(await openapiTS(complete as never));
  if (process.env.UPDATE_API_TYPES) writeFileSync(FILE, types);
  expect(readFileSync(FILE, 'utf8')).toBe(types);
});
