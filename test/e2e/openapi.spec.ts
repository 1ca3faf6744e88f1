// Checks the OpenAPI document of the application against its routes and with a linter from npm.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { OpenAPIObject } from '@nestjs/swagger';
import { lintFromString, loadConfig } from '@redocly/openapi-core';

import { startApp, type TestApp } from '../support/app.js';

const ROOT = resolve(import.meta.dirname, '../..');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Documented {
  name: string;
  operation: NonNullable<OpenAPIObject['paths'][string]['get']>;
}

const CONFIG = `
agents:
  classifier:
    consumes: [{ types: [CustomerMessage] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": "card_arrival"}' }
  reporter:
    consumes: [{ types: [ReportDue] }]
    publishes: [{ type: Report }]
    engine: { kind: expression, expression: payload }
  approver:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Approval }]
    engine: { kind: external, assignee: anna }
`;

let app: TestApp;
const UNKNOWN = '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80';

let document: OpenAPIObject;
let operations: Documented[];
beforeAll(async () => {
  app = await startApp({
    config: CONFIG,
    settings: { serverName: 'Support <desk>', bodyLimitBytes: 2 * 1_024 ** 2, maxTtlMs: 3 * 86_400_000 },
  });
  document = (await app.http.get('/openapi.json').expect(200)).body as OpenAPIObject;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ name: `${method} ${path}`, operation: item[method]! })),
  );
});
afterAll(() => app.close());

/** Returns the missing entries as a list, to compare with an empty one: a failure names every route together. */
const lacking = (holds: (documented: Documented) => boolean): string[] =>
  operations.filter((one) => !holds(one)).map(({ name }) => name);

it('is OpenAPI 3.0 under the name of the server', () => {
  expect(document.openapi).toMatch(/^3\.0\./);
  expect(document.info.title).toBe('Support <desk>');
});

it('names the limits that are settings, with the values of this service', async () => {
  const { description = '' } = document.info;
  expect(description).toContain('| `body_limit` | 2MiB | 413 |');
  expect(description).toContain('| `max_ttl` | 3d | 400 |');
  const documented = (await readFile(join(ROOT, 'docs/security.md'), 'utf8')).matchAll(
    /^\|[^|]+\| (`\w+`) \|[^|]+\| (?:400|408|413|503)\b/gm,
  );
  const settings = [...documented].map(([, setting]) => setting!);
  expect(settings.length).toBeGreaterThan(10);
  expect(settings.filter((setting) => !description.includes(setting))).toEqual([]);
});

it('names the supported versions of the Model Context Protocol', () => {
  const [header] = document.paths['/mcp']!.post!.parameters as { name: string; schema: { enum: string[] } }[];
  expect([header!.name, header!.schema.enum]).toEqual(['Mcp-Protocol-Version', SUPPORTED_PROTOCOL_VERSIONS]);
});

it('has every route, and no other', () => {
  interface Layer {
    route?: { path: string; methods: Record<string, boolean> };
  }
  const { router } = app.app.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } };
  const routes = router.stack.flatMap(({ route }) =>
    route ? Object.keys(route.methods).map((method) => `${method} ${route.path.replace(/:(\w+)/g, '{$1}')}`) : [],
  );
  // docs/changelog.md describes WebSockets, which are not part of OpenAPI. `/` only sends browsers to a page.
  const described = routes.filter((route) => !route.startsWith('get /ws') && route !== 'get /');
  expect(operations.map(({ name }) => name).sort()).toEqual(described.sort());
});

it('gives every route a summary, a unique id and a described tag', () => {
  const tags = document.tags!.map(({ name }) => name);
  expect(lacking(({ operation }) => Boolean(operation.summary))).toEqual([]);
  expect(lacking(({ operation }) => operation.tags?.length === 1 && tags.includes(operation.tags[0]!))).toEqual([]);
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

it('gives every route its success and its errors, each with a description and an example', () => {
  interface Answer {
    description?: string;
    content?: Record<string, { schema?: { $ref?: string }; example?: unknown }>;
    headers?: Record<string, unknown>;
  }
  for (const { name, operation } of operations) {
    const answers = Object.entries(operation.responses) as [string, Answer][];
    const statuses = answers.map(([status]) => status);
    const required = operation.requestBody ? ['200', '400', '403', '413', '415', '500'] : ['200', '403', '500'];
    expect([name, statuses]).toEqual([name, expect.arrayContaining(required)]);
    for (const [status, { description, content = {}, headers }] of answers) {
      const [body] = Object.values(content);
      const where = `${name} ${status}`;
      const hasBody = status !== '202';
      expect([where, typeof description, body?.example !== undefined, Object.keys(headers ?? {})]).toEqual([
        where,
        'string',
        hasBody,
        expect.arrayContaining(['X-Request-ID']),
      ]);
      const isError = Number(status) >= 400 && !name.includes('/health');
      if (isError)
        expect([where, body?.schema?.$ref, Object.keys(body?.example as object)]).toEqual([
          where,
          expect.stringContaining('ErrorBody'),
          ['detail'],
        ]);
    }
  }
});

it('gives every body an example, which the service accepts as it is', async () => {
  interface Body {
    content: Record<string, { examples: Record<string, { value: object }> }>;
  }
  for (const { name, operation } of operations.filter((one) => one.operation.requestBody)) {
    const examples = Object.values((operation.requestBody as Body).content['application/json']!.examples);
    expect([name, examples.length > 0]).toEqual([name, true]);
    for (const { value } of examples) {
      const [method, path] = name.split(' ') as ['post' | 'put', string];
      const answer = await app.http[method](
        path.replace('{agent_name}', 'classifier').replace('{artifact_id}', UNKNOWN),
      ).send(value);
      // An example about a stored row, or about an agent's work, gets an answer that there is none.
      const status =
        /\{((artifact|execution|correlation|delivery|operation|experiment)_id|(schedule|limit)_name)\}|\/executions\/fail$/.test(
          name,
        )
          ? 404
          : 200;
      expect([name, answer.status, answer.body]).toEqual([name, status, expect.anything()]);
    }
  }
});

it('gives every route with a parameter or a filter its 400, and every parameter a description and an example', () => {
  interface Parameter {
    name: string;
    in: string;
    description?: string;
    example?: unknown;
    schema?: { example?: unknown; type?: string };
  }
  expect(
    lacking(
      ({ operation }) =>
        !operation.parameters?.some((one) => (one as Parameter).in === 'query') || '400' in operation.responses,
    ),
  ).toEqual([]);
  for (const { name, operation } of operations) {
    for (const parameter of (operation.parameters ?? []) as Parameter[]) {
      const example = parameter.example ?? parameter.schema?.example;
      expect([
        name,
        parameter.name,
        typeof parameter.description,
        typeof parameter.schema?.type,
        example === undefined,
      ]).toEqual([name, parameter.name, 'string', 'string', false]);
    }
  }
});

it('passes the linter with the rules of redocly.yaml', async () => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config: await loadConfig({ configPath: join(ROOT, 'redocly.yaml') }),
  });
  expect(problems.map(({ severity, ruleId, message, location }) => [severity, ruleId, message, location])).toEqual([]);
});
