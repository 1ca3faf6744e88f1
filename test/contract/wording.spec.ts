import type { Test } from 'supertest';

import { startApp, type TestApp } from '../support/app.js';

const CONFIG = `
types:
  Order:
    version: 2
    schema:
      type: object
      required: [customer, lines]
      additionalProperties: false
      properties:
        customer: { type: object, properties: { email: { type: string, format: email } } }
        lines: { type: array, items: { type: object, required: [count], properties: { count: { type: integer, minimum: 1 } } } }
  Declared: {}
agents:
  echo:
    consumes: [{ types: [Consumed] }]
    publishes: [{ type: Published }]
    engine: { kind: expression, expression: '{"n": 1}' }
  packer:
    consumes: [{ types: [Item], batch: { size: 5 } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"size": inputs.size()}' }
  broken:
    consumes: [{ types: [Trouble] }]
    publishes: [{ type: Published }]
    engine: { kind: expression, expression: payload.missing }
    retry: { attempts: 1 }
`;

const LISTED = 'GET /api/v1/artifact-types lists the known ones';
const TEXT_RULE = '1 to 255 characters of text, without NUL';
const SECRET_RULE = 'a text of 16 to 256 characters, in base64 if it begins with whsec_';
const LABELS_RULE = `must be a list of 1 to 1000 names, each ${TEXT_RULE}`;
const NAMES_RULE = `must be a list of at most 1000 names, each ${TEXT_RULE}`;

/** Checks the exact words and values of answers. Uses the application, its database and HTTP. */
describe('Interface B to the letter', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ config: CONFIG });
  });

  afterAll(() => app.close());

  const publish = (body: object): Test => app.http.post('/api/v1/artifacts').send(body);
  const publishSync = (body: object): Test => app.http.post('/api/v1/artifacts/sync').send(body);
  const order = (payload: object): object => ({ type: 'Order', payload });
  const seen = (visibility: unknown): object => ({ type: 'Declared', visibility });

  it.each<[string, object, string]>([
    ['a type that is near no known one', { type: 'Zebra' }, `Unknown artifact type: Zebra; ${LISTED}`],
    ['a type of another case', { type: 'declared' }, 'Unknown artifact type: declared; did you mean Declared?'],
    ['a type of a megabyte', { type: 'Z'.repeat(1_000_000) }, 'type: must be shorter than or equal to 255 characters'],
    ['a type of 255 characters', { type: 'Z'.repeat(255) }, `Unknown artifact type: ${'Z'.repeat(200)}...; ${LISTED}`],
    ['an empty type', { type: '' }, `Unknown artifact type: ; ${LISTED}`],
    ['a payload that lacks what it needs', order({ lines: [] }), 'payload.customer: is required'],
    [
      'a payload with a wrong part',
      order({ customer: {}, lines: [{ count: 1 }, { count: 0 }] }),
      'payload.lines[1].count: must be >= 1',
    ],
    [
      'a payload with a wrong format',
      order({ customer: { email: 'x' }, lines: [] }),
      'payload.customer.email: must match format "email"',
    ],
    [
      'a payload with an unknown key',
      order({ customer: {}, lines: [], line: 1 }),
      'payload.line: is not a known key; did you mean lines?',
    ],
    [
      'a payload with several errors',
      order({ customer: 1 }),
      'payload.lines: is required; payload.customer: must be object',
    ],
    ['tags that are not a list', { type: 'Declared', tags: 'vip' }, 'tags: must be an array'],
    ['a tag of no characters', { type: 'Declared', tags: ['vip', ''] }, `tags: each value must be ${TEXT_RULE}`],
    ['a tag with NUL', { type: 'Declared', tags: ['a\0b'] }, `tags: each value must be ${TEXT_RULE}`],
    ['a tag with half a character', { type: 'Declared', tags: ['\ud800'] }, `tags: each value must be ${TEXT_RULE}`],
    ['null for tags', { type: 'Declared', tags: null }, 'tags: must be an array'],
    ['a number for tags', { type: 'Declared', tags: 7 }, 'tags: must be an array'],
    ['an empty partition key', { type: 'Declared', partition_key: '' }, `partition_key: must be ${TEXT_RULE}`],
    [
      'a long partition key',
      { type: 'Declared', partition_key: 'p'.repeat(256) },
      `partition_key: must be ${TEXT_RULE}`,
    ],
    ['null for a visibility', seen(null), 'visibility: must be an object'],
    [
      'a visibility without a kind',
      seen({}),
      'visibility: kind must be one of Public, Private, Labelled, Tenant, After',
    ],
    [
      'a kind in small letters',
      seen({ kind: 'public' }),
      'visibility: kind must be one of Public, Private, Labelled, Tenant, After',
    ],
    ['Private to a number', seen({ kind: 'Private', agents: [1] }), `visibility: agents ${NAMES_RULE}`],
    [
      'Private to a thousand and one',
      seen({ kind: 'Private', agents: Array(1_001).fill('a') }),
      `visibility: agents ${NAMES_RULE}`,
    ],
    ['Labelled without a list', seen({ kind: 'Labelled' }), `visibility: required_labels ${LABELS_RULE}`],
    [
      'Labelled without a label',
      seen({ kind: 'Labelled', required_labels: [] }),
      `visibility: required_labels ${LABELS_RULE}`,
    ],
    ['a tenant left out', seen({ kind: 'Tenant' }), `visibility: tenant_id must be null (all agents) or ${TEXT_RULE}`],
    [
      'a misspelled tenant',
      seen({ kind: 'Tenant', tenantid: 'acme' }),
      'visibility: tenantid is not a known field of Tenant; did you mean tenant_id?',
    ],
    [
      'After no time at all',
      seen({ kind: 'After', ttl: 'PT0S' }),
      'visibility: ttl must be at least one millisecond; for no delay, use the visibility in then directly',
    ],
    [
      'After without a label',
      seen({ kind: 'After', ttl: 'PT1H', then: { kind: 'Labelled', required_labels: [] } }),
      `visibility: then.required_labels ${LABELS_RULE}`,
    ],
    [
      'a tenant of no characters',
      seen({ kind: 'Tenant', tenant_id: '' }),
      `visibility: tenant_id must be null (all agents) or ${TEXT_RULE}`,
    ],
    [
      'After without a ttl',
      seen({ kind: 'After' }),
      'visibility: ttl must be a duration such as 30m, PT1H or P2D (without years or months)',
    ],
    [
      'After more than max_ttl',
      seen({ kind: 'After', ttl: 'P30DT0.001S' }),
      'visibility: ttl must be at most 30d (max_ttl)',
    ],
    [
      'After months',
      seen({ kind: 'After', ttl: 'P1M' }),
      'visibility: ttl must be a duration such as 30m, PT1H or P2D (without years or months)',
    ],
    [
      'After seconds as a number',
      seen({ kind: 'After', ttl: 3_600 }),
      'visibility: ttl must be a duration such as 30m, PT1H or P2D (without years or months)',
    ],
    [
      'After with a wrong then',
      seen({ kind: 'After', ttl: 'PT1H', then: { kind: 'Private' } }),
      `visibility: then.agents ${NAMES_RULE}`,
    ],
    [
      'After with a then that is not an object',
      seen({ kind: 'After', ttl: 'PT1H', then: 'Public' }),
      'visibility: then must be an object',
    ],
    ['a webhook that is null', { type: 'Declared', webhook: null }, 'webhook: must be an object'],
    ['a webhook without a url', { type: 'Declared', webhook: {} }, 'webhook.url: is required'],
    [
      'a webhook of another scheme',
      { type: 'Declared', webhook: { url: 'ftp://example.com' } },
      'webhook.url: must begin with http:// or https://',
    ],
    [
      'a webhook to the inside',
      { type: 'Declared', webhook: { url: 'http://127.0.0.1/' } },
      'webhook.url: must point to a public address, not to 127.0.0.1; the operator of this service can allow it with outbound_allow',
    ],
    [
      'a webhook to a metadata service',
      { type: 'Declared', webhook: { url: 'http://169.254.169.254/' } },
      'webhook.url: must not point to 169.254.169.254: link-local, metadata and unusable addresses are never called',
    ],
    [
      'a secret of 15 characters',
      { type: 'Declared', webhook: { url: 'https://example.com', secret: 's'.repeat(15) } },
      `webhook.secret: must be ${SECRET_RULE}`,
    ],
    [
      'a secret that is not base64',
      { type: 'Declared', webhook: { url: 'https://example.com', secret: 'whsec_not base64 at all' } },
      `webhook.secret: must be ${SECRET_RULE}`,
    ],
  ])('refuses %s with these words', async (_case, body, detail) => {
    for (const answer of [await publish(body), await publishSync(body)])
      expect([answer.status, answer.body]).toEqual([400, { detail }]);
  });

  it.each<[string, object]>([
    ['100 tags of 255 characters', { tags: Array.from({ length: 100 }, (_, n) => String(n).padEnd(255, 'x')) }],
    ['no tags', { tags: [] }],
    ['a partition key of 255 characters', { partition_key: 'p'.repeat(255) }],
    [
      'Private to a thousand agents',
      { visibility: { kind: 'Private', agents: Array.from({ length: 1_000 }, (_, n) => `agent-${n}`) } },
    ],
    ['Private to no agent', { visibility: { kind: 'Private', agents: [] } }],
    ['After as long as max_ttl', { visibility: { kind: 'After', ttl: 'P30D' } }],
    ['a then that is null', { visibility: { kind: 'After', ttl: 'PT0.001S', then: null } }],
  ])('accepts %s', async (_case, parts) => {
    expect((await publish({ type: 'Declared', ...parts })).body).toEqual({ status: 'accepted' });
  });

  it('accepts a thousand inputs of a direct run, and refuses one more', async () => {
    const run = (count: number): Test =>
      app.http
        .post('/api/v1/agents/packer/run')
        .send({ inputs: Array.from({ length: count }, () => ({ type: 'Item', payload: {} })) });
    expect((await run(1_000)).body).toMatchObject({ artifacts: [{ payload: { size: 1_000 } }] });
    const { status, body } = await run(1_001);
    expect([status, body]).toEqual([400, { detail: 'inputs: must not hold more than 1000 artifacts' }]);
  });

  it.each<[string, object, string]>([
    ['filters that are null', { filters: null }, 'filters: must be an object'],
    [
      'filters that are not a list',
      { filters: { type_names: 7, produced_by: { a: 1 } } },
      'filters.produced_by: must be an array; filters.type_names: must be an array',
    ],
    [
      'filters that list other values',
      { filters: { type_names: ['A', 7] } },
      'filters.type_names: each value must be a string',
    ],
    ['null for a timeout', { timeout: null }, 'timeout: must be a number'],
    ['a timeout below a second', { timeout: 0.999 }, 'timeout: must not be less than 1'],
    ['a timeout beyond 300 seconds', { timeout: 300.001 }, 'timeout: must not be greater than 300'],
    ['a timeout in words', { timeout: '30' }, 'timeout: must be a number'],
  ])('refuses %s of a synchronous publish with these words', async (_case, parts, detail) => {
    const { status, body } = await publishSync({ type: 'Declared', ...parts });
    expect([status, body]).toEqual([400, { detail }]);
  });

  it.each(['Declared', 'Consumed', 'Published', 'Trouble'])(
    'accepts any object for %s, which is declared, consumed or published without a schema',
    async (type) => {
      for (const payload of [{}, { any: ['thing', null, 1e300] }]) await publishSync({ type, payload }).expect(200);
      const { body } = await app.http
        .get('/api/v1/artifacts')
        .query({ type, produced_by: 'external', order: 'desc', limit: 2 })
        .expect(200);
      expect(body).toMatchObject({
        items: [{ payload: { any: ['thing', null, 1e300] } }, { payload: {}, version: 1 }],
      });
    },
  );

  it.each([
    { kind: 'Public' },
    { kind: 'Private', agents: ['echo', 'nobody'] },
    { kind: 'Labelled', required_labels: ['pii'] },
    { kind: 'Tenant', tenant_id: 'acme' },
    { kind: 'Tenant', tenant_id: null },
    { kind: 'After', ttl: 'P2DT30M' },
    { kind: 'After', ttl: 'PT0.5S', then: { kind: 'Labelled', required_labels: ['pii'] } },
  ])('returns the visibility %j as it was sent', async (visibility) => {
    const { headers } = await publish({ type: 'Declared', visibility }).expect(200);
    const query = { correlation_id: headers['x-correlation-id'], visibility: visibility.kind };
    const { body } = await app.http.get('/api/v1/artifacts').query(query).expect(200);
    expect(body).toMatchObject({ items: [{ visibility_kind: visibility.kind, partition_key: null, tags: [] }] });
    expect((body as { items: { visibility: object }[] }).items[0]!.visibility).toEqual(visibility);
  });

  it('returns a ttl in ISO 8601, however it was sent', async () => {
    const visibility = { kind: 'After', ttl: '1d1h0.5s' };
    const { headers } = await publish({ type: 'Declared', visibility }).expect(200);
    const { body } = await app.http.get('/api/v1/artifacts').query({ correlation_id: headers['x-correlation-id'] });
    expect(body).toMatchObject({ items: [{ visibility: { kind: 'After', ttl: 'P1DT1H0.5S' } }] });
  });

  it('names the execution that consumed an artifact, the same as its WorkflowError names', async () => {
    const { body } = await publishSync({ type: 'Trouble' }).expect(200);
    const { correlation_id, artifacts } = body as {
      correlation_id: string;
      artifacts: { payload: { execution_id: string; input_artifact_ids: string[] } }[];
    };
    const { execution_id, input_artifact_ids } = artifacts[0]!.payload;
    const list = await app.http.get('/api/v1/artifacts').query({ correlation_id, embed_meta: true }).expect(200);
    expect((list.body as { items: object[] }).items[0]).toMatchObject({
      id: input_artifact_ids[0],
      consumptions: [{ consumer: 'broken', run_id: execution_id }],
    });
  });

  it('counts the 100 most frequent tags, in the order of their frequency', async () => {
    const tags = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, index) => `t${String(from + index).padStart(3, '0')}`);
    for (const own of [tags(0, 100), tags(40, 140), tags(80, 180), tags(130, 131)]) {
      await publish({ type: 'Declared', tags: own }).set('X-Correlation-ID', 'tagged').expect(200);
    }
    const { body } = await app.http.get('/api/v1/artifacts/summary').query({ correlation_id: 'tagged' }).expect(200);
    const counted = Object.entries((body as { summary: { by_tag: Record<string, number> } }).summary.by_tag);
    const expected = [...tags(80, 100), ...tags(130, 131)].map((tag) => [tag, 3]);
    expect(counted.slice(0, 21)).toEqual(expected);
    expect(counted).toHaveLength(100);
    expect(counted.slice(21).map(([, count]) => count)).toEqual([...Array<number>(79).fill(2)]);
  });
});
