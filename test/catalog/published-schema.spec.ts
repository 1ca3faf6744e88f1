import { readFileSync, writeFileSync } from 'node:fs';

import { Ajv } from 'ajv';
import { parse } from 'yaml';

import { configurationSchema } from '../../src/catalog/configuration-file/configuration-schema.js';
import { parseDuration } from '../../src/common/units.js';
import { serverSettingsSchema } from '../../src/config/settings-documents.js';
import { FILE_ENGINES } from '../../src/engines/engine-registry.js';

const file = new URL('../../schema/starling.schema.json', import.meta.url);
const current = `${JSON.stringify(configurationSchema(FILE_ENGINES, serverSettingsSchema), null, 2)}\n`;
if (process.env.UPDATE_SCHEMA) writeFileSync(file, current);
const published = readFileSync(file, 'utf8');

const EXAMPLE = `
server: { server_name: Support desk, dashboard: true }
types:
  CustomerMessage:
    version: 1
    schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } }
agents:
  classifier:
    description: Names the intent of a message
    labels: [pii]                      # tenant_id: acme
    consumes:
      - types: [CustomerMessage]
        mode: all                      # all | any
        where: size(payload.text) > 3  # CEL; true triggers
        from_agents: [external]        # any of
        tags: [channel:chat]           # any of
        join: { by: payload.ticket_id, within: 5m }
        batch: { size: 25, timeout: 30s }   # on its own; not with join
        priority: 0
        allow_self: false
    publishes:
      - type: Intent                   # visibility: {...}  tags: [...]
    engine: { kind: function, module: ./agents/classifier.ts }
    timeout: 30s
    concurrency: 4
    retry: { attempts: 3, delay: 1s, max_delay: 1m }
`;

describe('the published schema of the configuration file', () => {
  const validate = new Ajv({ strict: false, allErrors: true, verbose: true }).compile(JSON.parse(published) as object);

  test('is the schema that the loader checks with', () => {
    if (published !== current)
      throw new Error(
        'schema/starling.schema.json is stale: run UPDATE_SCHEMA=1 npm test -- test/catalog/published-schema',
      );
  });

  test('accepts every key of a configuration file', () => {
    validate(parse(EXAMPLE));
    expect(validate.errors).toBeNull();
  });

  test('accepts the support desk', () => {
    validate(parse(readFileSync(new URL('../../examples/support-desk/starling.yaml', import.meta.url), 'utf8')));
    expect(validate.errors).toBeNull();
  });

  /** The YAML support of VS Code shows `errorMessage` of a schema for every rule in it that a value breaks. */
  const shownInEditors = (configuration: string): unknown[] => {
    validate(parse(configuration));
    return (validate.errors ?? []).map(
      ({ parentSchema, params }) => (parentSchema as { errorMessage?: string }).errorMessage ?? params,
    );
  };

  test.each([
    ['agents: { a: { descripton: x, consumes: [{ types: [T] }], engine: { kind: external } } }', 'descripton'],
    ['agents: { a: { consumes: [{ types: [T], were: x }], engine: { kind: external } } }', 'were'],
    ['agents: { a: { consumes: [{ types: [T], batch: { sise: 2 } }], engine: { kind: external } } }', 'sise'],
    [
      'agents: { a: { consumes: [{ types: [T] }], publishes: [{ type: U, tag: x }], engine: { kind: external } } }',
      'tag',
    ],
    ['agents: { a: { consumes: [{ types: [T] }], engine: { kind: external, assigne: x } } }', 'assigne'],
    [
      'agents: { a: { consumes: [{ types: [T] }], engine: { kind: external, due: { after: 1h, then: fail, so: x } } } }',
      'so',
    ],
    ['agent: {}', 'agent'],
    ['server: { prot: 80 }', 'prot'],
    ['budget: { token: 80 }', 'token'],
  ])('lets editors name the unknown key in %s', (configuration, additionalProperty) => {
    expect(shownInEditors(configuration)).toContainEqual({ additionalProperty });
  });

  test('lets editors name a missing key', () => {
    expect(shownInEditors('agents: { a: { consumes: [{ types: [T] }] } }')).toContainEqual({
      missingProperty: 'engine',
    });
  });

  test('has no errorMessage where it would hide which key is wrong', () => {
    const hiding = JSON.stringify(JSON.parse(published), (_, value: unknown) =>
      typeof value === 'object' &&
      value !== null &&
      'errorMessage' in value &&
      ('properties' in value || 'required' in value)
        ? 'HIDES'
        : value,
    );
    expect(hiding).not.toContain('HIDES');
  });

  test('refuses unknown keys and unknown engines', () => {
    expect(validate({ agents: { a: { consumes: [{ types: ['T'] }], engine: { kind: 'provider' } } } })).toBe(false);
    expect(
      validate({
        agents: {
          a: { consumes: [{ types: ['T'], retain: '1d' }], engine: { kind: 'expression', expression: 'payload' } },
        },
      }),
    ).toBe(false);
  });

  test.each([
    '500ms',
    '1.5s',
    '30s',
    '5m',
    '2h',
    '30d',
    '',
    '30',
    's',
    '-1s',
    '1 s',
    '1w',
    '1h30m',
    '30m1h',
    'PT1H',
    '1hPT1H',
    'P1Y',
    '1.s',
    '1s\n',
  ])('accepts %j as a duration exactly if the loader does', (timeout) => {
    const agent = { consumes: [{ types: ['T'] }], engine: { kind: 'expression', expression: 'payload' }, timeout };
    expect(validate({ agents: { agent } })).toBe(parseDuration(timeout) !== null);
  });
});
