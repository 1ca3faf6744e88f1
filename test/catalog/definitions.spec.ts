import { load, problemOf } from './loading.js';

// Every key of an agent except the join, which cannot be combined with a batch window.
const EXAMPLE = `
server: { server_name: Support desk, dashboard: true }
types:
  CustomerMessage:
    version: 2
    description: What a customer wrote
    schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } }
agents:
  classifier:
    description: Names the intent of a message
    labels: [pii]
    tenant_id: acme
    consumes:
      - types: [CustomerMessage]
        mode: all
        where: size(payload.text) > 3
        from_agents: [external]
        tags: [channel:chat]
        batch: { size: 25, timeout: 30s }
        priority: 5
        allow_self: true
      - types: [CustomerMessage, Ticket]
        join: { by: payload.ticket_id, within: 5m }
    publishes:
      - type: Intent
        visibility: { kind: After, ttl: PT1H, then: { kind: Labelled, required_labels: [pii] } }
        tags: [derived]
    engine: { kind: function, module: ./agents/classifier.mjs }
    timeout: 30s
    concurrency: 4
    retry: { attempts: 5, delay: 500ms, max_delay: 2h }
    budget: { tokens: 1000 }
  plain:
    consumes: [{ types: [Intent, WorkflowError], mode: any }]
    engine: { kind: expression, expression: payload }
`;
const files = { 'agents/classifier.mjs': 'export default async () => null;' };

describe('the catalog of a configuration', () => {
  test('has an agent as it is written', async () => {
    const { catalog, server } = await load(EXAMPLE, { files });
    expect(server).toEqual({ server_name: 'Support desk', dashboard: true });
    expect(catalog.agent('classifier')).toEqual({
      name: 'classifier',
      description: 'Names the intent of a message',
      labels: ['pii'],
      tenantId: 'acme',
      subscriptions: [
        {
          agent: 'classifier',
          index: 0,
          types: ['CustomerMessage'],
          mode: 'all',
          where: 'size(payload.text) > 3',
          fromAgents: ['external'],
          tags: ['channel:chat'],
          join: null,
          batch: { size: 25, timeoutMs: 30_000, key: null },
          debounce: null,
          priority: 5,
          priorityBy: null,
          allowSelf: true,
        },
        {
          agent: 'classifier',
          index: 1,
          types: ['CustomerMessage', 'Ticket'],
          mode: 'all',
          where: null,
          fromAgents: [],
          tags: [],
          join: { by: 'payload.ticket_id', withinMs: 300_000 },
          batch: null,
          debounce: null,
          priority: 0,
          priorityBy: null,
          allowSelf: false,
        },
      ],
      outputs: [
        {
          type: 'Intent',
          visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'Labelled', required_labels: ['pii'] } },
          tags: ['derived'],
        },
      ],
      engine: { kind: 'function', module: './agents/classifier.mjs' },
      timeoutMs: 30_000,
      concurrency: 4,
      retry: { attempts: 5, delayMs: 500, maxDelayMs: 7_200_000 },
      budget: { tokens: 1_000, cost: null },
      limits: [],
      fairness: null,
      cancelOn: null,
      singleton: null,
      breaker: null,
      variants: null,
      cache: null,
    });
  });

  test('fills in defaults', async () => {
    const { catalog } = await load(EXAMPLE, { files });
    expect(catalog.agent('plain')).toMatchObject({
      description: '',
      labels: [],
      tenantId: null,
      outputs: [],
      timeoutMs: 60_000,
      concurrency: 10,
      retry: { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 },
    });
    const joined = await load(
      'agents: { a: { consumes: [{ types: [T, U] }], publishes: [{ type: V }], engine: { kind: expression, expression: payload } } }',
    );
    expect(joined.catalog.agent('a')).toMatchObject({
      subscriptions: [{ join: { by: null, withinMs: null } }],
      outputs: [{ type: 'V', visibility: { kind: 'Public' }, tags: [] }],
    });
  });

  test.each([
    ['25%', 0.25],
    ['100%', 1],
    ['0.0001', 0.0001],
  ])('reads %s as a share', async (given, maxShare) => {
    const { catalog } = await load(
      `agents: { a: { consumes: [{ types: [T] }], fair_by: payload.id, max_share: ${given}, engine: { kind: external } } }`,
    );
    expect(catalog.agent('a')!.fairness).toMatchObject({ maxShare });
  });

  test.each([
    ['60/m', 60, 60_000],
    ['999999999/1m30s', 999_999_999, 90_000],
    ['60/PT1M', 60, 60_000],
    ['2/0.5s', 2, 500],
  ])('reads the rate %s', async (rate, count, perMs) => {
    const { catalog } = await load(`limits: { calls: { rate: ${rate} } }`);
    expect(catalog.limits.get('calls')!.rate).toEqual({ count, perMs, burst: 1 });
  });

  test('raises the maximum delay to a first delay that is longer than its default', async () => {
    const { catalog } = await load(
      'agents: { a: { consumes: [{ types: [T] }], retry: { delay: 5m }, engine: { kind: expression, expression: payload } } }',
    );
    expect(catalog.agent('a')!.retry).toEqual({ attempts: 3, delayMs: 300_000, maxDelayMs: 300_000 });
  });

  test('has types that only agents mention, at version 1, and accepts any object for them', async () => {
    const { catalog } = await load(EXAMPLE, { files });
    expect(catalog.types.map(({ name, version }) => [name, version])).toEqual([
      ['CustomerMessage', 2],
      ['WorkflowError', 1],
      ['Ticket', 1],
      ['Intent', 1],
    ]);
    expect(catalog.type('Ticket')!.schema).toBeNull();
    expect(problemOf(catalog.type('Ticket')!, { anything: [1] })).toBeNull();
    expect(problemOf(catalog.type('Ticket')!, [1])).toBe('payload: must be object');
  });

  test('keeps artifacts for ever, or as long as their type says; WorkflowError accepts only that setting', async () => {
    const { catalog } = await load('types: { T: { retain: 30d }, U: {}, WorkflowError: { retain: 12h } }');
    expect(catalog.types.map(({ name, retainMs }) => [name, retainMs])).toEqual([
      ['T', 30 * 86_400_000],
      ['U', null],
      ['WorkflowError', 12 * 3_600_000],
    ]);
    expect(catalog.type('WorkflowError')!.schema).not.toBeNull();
  });

  test('always has WorkflowError, with its own schema', async () => {
    const { catalog } = await load('types: {}');
    const type = catalog.type('WorkflowError')!;
    const id = '0193b7a0-0000-7000-8000-000000000000';
    const payload = {
      failed_agent: 'a',
      error_type: 'timeout',
      error_message: 'no answer within 60 s',
      timestamp: '2026-11-20T10:00:00.000Z',
      execution_id: id,
      attempts: 3,
      input_artifact_ids: [id],
    };
    expect(problemOf(type, payload)).toBeNull();
    expect(problemOf(type, { ...payload, execution_id: null, attempts: 0 })).toBeNull();
    expect(problemOf(type, { ...payload, attempts: undefined })).toBe('payload.attempts: is required');
  });

  test('reads a JSON configuration file, accepts tabs and refuses repeated keys', async () => {
    const name = 'starling.json';
    const { catalog } = await load('{\n\t"types": {\n\t\t"T": { "description": "tea" }\n\t}\n}\n', { name });
    expect(catalog.type('T')!.description).toBe('tea');
    await expect(load('{ "types": {}, "types": {} }', { name })).rejects.toThrow('types: occurs twice');
  });

  test('resolves anchors', async () => {
    const { catalog } = await load(
      'types:\n  A: { schema: &s { type: object, required: [x] } }\n  B: { schema: *s }\n',
    );
    expect(problemOf(catalog.type('B')!, {})).toBe('payload.x: is required');
  });
});
