import type { Test } from 'supertest';

import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { check, detail, timestamp, UNKNOWN_ID, UUID, uuid } from './rows.js';

const CONFIG = `
types:
  CustomerMessage:
    version: 3
    description: What a customer wrote
    schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } }
agents:
  classifier:
    description: Names the intent of a message
    consumes: [{ types: [CustomerMessage] }]
    publishes: [{ type: Intent, tags: [classified] }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' }
  router:
    description: Sends an intent to its queue
    consumes: [{ types: [Intent], mode: any }]
    publishes: [{ type: Routing }]
    engine: { kind: expression, expression: '{"queue": payload.intent + "s"}' }
  supervisor:
    consumes: [{ types: [Intent, Routing] }]
    publishes: [{ type: Review }, { type: Alarm }]
    engine: { kind: expression, expression: '{"Review": {"of": payload.Routing.queue}}' }
  broken:
    consumes: [{ types: [Trouble] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: payload.missing.deeper }
    retry: { attempts: 1 }
  slow:
    consumes: [{ types: [Endless] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./slow.js }
`;

const SLOW = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

const MESSAGE = { type: 'CustomerMessage', payload: { text: 'Where is my card?' } };

/**
 * Tests Interface B as docs/api.md describes it, row by row. Uses the application, its database, HTTP, and expression
 * and function agents.
 */
describe('Interface B', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ config: CONFIG, files: { 'slow.js': SLOW } });
    await app.http
      .post('/api/v1/artifacts/sync')
      .set('X-Correlation-ID', 'order-1')
      .send({ ...MESSAGE, tags: ['channel:chat', 'vip'] });
    await app.http
      .post('/api/v1/artifacts/sync')
      .set('X-Correlation-ID', 'order-2')
      .send({ type: 'Trouble', partition_key: 'p7' });
  });

  afterAll(() => app.close());

  const get = (path: string): Test => app.http.get(path);
  const post = (path: string, body: object = {}): Test => app.http.post(path).send(body);
  const publish = (body: object = {}): Test => post('/api/v1/artifacts', body);
  const publishSync = (body: object = {}): Test => post('/api/v1/artifacts/sync', body);
  const items = async (query: string): Promise<Record<string, unknown>[]> =>
    ((await get(`/api/v1/artifacts?${query}`)).body as { items: Record<string, unknown>[] }).items;

  describe('POST /api/v1/artifacts', () => {
    check([
      ['answers {status} immediately', () => publish(MESSAGE), 200, { status: 'accepted' }],
      [
        'takes any object for a type that is only mentioned',
        () => publish({ type: 'Alarm', payload: { any: [1, 'thing'] } }),
        200,
        { status: 'accepted' },
      ],
      ['takes {} for an absent payload', () => publish({ type: 'Alarm' }), 200, { status: 'accepted' }],
      [
        'takes a partition key, tags and a visibility',
        () => publish({ type: 'Alarm', tags: ['a', 'b'], partition_key: 'p', visibility: { kind: 'Public' } }),
        200,
        { status: 'accepted' },
      ],
      [
        'takes null for no partition key',
        () => publish({ type: 'Alarm', partition_key: null }),
        200,
        { status: 'accepted' },
      ],
      [
        'takes the Private kind',
        () => publish({ type: 'Alarm', visibility: { kind: 'Private', agents: ['router'] } }),
        200,
        { status: 'accepted' },
      ],
      [
        'takes the Labelled kind',
        () => publish({ type: 'Alarm', visibility: { kind: 'Labelled', required_labels: ['pii'] } }),
        200,
        { status: 'accepted' },
      ],
      [
        'takes the Tenant kind',
        () => publish({ type: 'Alarm', visibility: { kind: 'Tenant', tenant_id: null } }),
        200,
        { status: 'accepted' },
      ],
      [
        'takes the After kind',
        () =>
          publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'Private', agents: [] } } }),
        200,
        { status: 'accepted' },
      ],
      [
        'refuses an unknown field, and names the nearest',
        () => publish({ type: 'Alarm', visiblity: { kind: 'Private', agents: [] } }),
        400,
        detail('visiblity: is not a known field; did you mean visibility?'),
      ],
      [
        'refuses a field of a visibility that its kind does not know',
        () => publish({ type: 'Alarm', visibility: { kind: 'Tenant', tenant: 'a' } }),
        400,
        detail('visibility: tenant is not a known field of Tenant; known here: kind, tenant_id'),
      ],
      [
        'refuses an unknown type, and names the nearest',
        () => publish({ type: 'CustomerMesage' }),
        400,
        detail('Unknown artifact type: CustomerMesage; did you mean CustomerMessage?'),
      ],
      [
        'refuses a payload that its schema refuses, and names the path',
        () => publish({ type: 'CustomerMessage', payload: { text: '' } }),
        400,
        detail(/payload\.text|\/text|text/),
      ],
      ['refuses a body without a type', () => publish({}), 400, detail('type: must be a string')],
      [
        'refuses a payload that is not an object',
        () => publish({ type: 'Alarm', payload: [1] }),
        400,
        detail('payload: must be an object'),
      ],
      [
        'refuses null for a payload',
        () => publish({ type: 'Alarm', payload: null }),
        400,
        detail('payload: must be an object'),
      ],
      [
        'names every bad field',
        () => publish({ type: 7, tags: 'a', partition_key: 1 }),
        400,
        detail(
          'partition_key: must be 1 to 255 characters of text, without NUL; tags: must be an array; type: must be a string',
        ),
      ],
      [
        'coerces nothing',
        () => publish({ type: 'Alarm', tags: [1] }),
        400,
        detail('tags: each value must be 1 to 255 characters of text, without NUL'),
      ],
      [
        'refuses more than 100 tags',
        () => publish({ type: 'Alarm', tags: Array.from({ length: 101 }, String) }),
        400,
        detail('tags: must contain no more than 100 elements'),
      ],
      [
        'refuses a tag of 256 characters',
        () => publish({ type: 'Alarm', tags: ['t'.repeat(256)] }),
        400,
        detail(/^tags: /),
      ],
      [
        'refuses an unknown visibility',
        () => publish({ type: 'Alarm', visibility: { kind: 'Secret' } }),
        400,
        detail('visibility: kind must be one of Public, Private, Labelled, Tenant, After'),
      ],
      [
        'refuses a visibility that is not an object',
        () => publish({ type: 'Alarm', visibility: 'Public' }),
        400,
        detail('visibility: must be an object'),
      ],
      [
        'refuses Private without agents',
        () => publish({ type: 'Alarm', visibility: { kind: 'Private' } }),
        400,
        detail(/^visibility: agents must be a list/),
      ],
      [
        'refuses Labelled without labels',
        () => publish({ type: 'Alarm', visibility: { kind: 'Labelled', required_labels: 'pii' } }),
        400,
        detail(/^visibility: required_labels must be a list/),
      ],
      [
        'refuses a tenant that is not a text',
        () => publish({ type: 'Alarm', visibility: { kind: 'Tenant', tenant_id: 7 } }),
        400,
        detail(/^visibility: tenant_id must be null \(all agents\) or/),
      ],
      [
        'refuses an unreadable ttl',
        () => publish({ type: 'Alarm', visibility: { kind: 'After', ttl: '1h' } }),
        400,
        detail('visibility: ttl must be an ISO 8601 duration, such as PT30M, PT1H or P2D (without years or months)'),
      ],
      [
        'refuses a ttl that no clock reaches',
        () => publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'P9999999999W' } }),
        400,
        detail('visibility: ttl must be at most 30d (max_ttl)'),
      ],
      [
        'refuses an After within an After',
        () =>
          publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'After', ttl: 'PT1H' } } }),
        400,
        detail('visibility: then.kind must be one of Public, Private, Labelled, Tenant'),
      ],
      [
        'refuses a webhook to a private address',
        () => publish({ type: 'Alarm', webhook: { url: 'https://10.0.0.1/' } }),
        400,
        detail(/^webhook\.url: must point to a public address, not to 10\.0\.0\.1; /),
      ],
      [
        'refuses a correlation id with a space',
        () => publish(MESSAGE).set('X-Correlation-ID', 'a b'),
        400,
        detail('X-Correlation-ID: must be 1 to 200 visible ASCII characters'),
      ],
      [
        'refuses a correlation id of 201 characters',
        () => publish(MESSAGE).set('X-Correlation-ID', 'c'.repeat(201)),
        400,
        detail(/^X-Correlation-ID: /),
      ],
      [
        'refuses an empty correlation id',
        () => publish(MESSAGE).set('X-Correlation-ID', ''),
        400,
        detail(/^X-Correlation-ID: /),
      ],
      [
        'refuses an idempotency key with a space',
        () => publish(MESSAGE).set('X-Idempotency-Key', 'a b'),
        400,
        detail('X-Idempotency-Key: must be 1 to 255 visible ASCII characters'),
      ],
      [
        'refuses malformed JSON',
        () => app.http.post('/api/v1/artifacts').type('json').send('{"type":'),
        400,
        detail(/JSON/),
      ],
      [
        'refuses a body that is not an object',
        () => app.http.post('/api/v1/artifacts').type('json').send('[]'),
        400,
        detail('The body must be a JSON object'),
      ],
      [
        'refuses another content type',
        () => app.http.post('/api/v1/artifacts').type('text/plain').send('hello'),
        415,
        detail(/application\/json/),
      ],
      [
        'refuses too large a body',
        () => publish({ type: 'Alarm', payload: { text: 'x'.repeat(1_048_576) } }),
        413,
        detail(/1048576 bytes/),
      ],
    ]);

    it('answers with the given correlation id, or with a generated one', async () => {
      const given = await publish(MESSAGE).set('X-Correlation-ID', 'mine!');
      expect(given.headers['x-correlation-id']).toBe('mine!');
      const made = await publish(MESSAGE);
      expect(made.headers['x-correlation-id']).toMatch(UUID);
      const [artifact] = await items(`correlation_id=${made.headers['x-correlation-id']}`);
      expect(artifact).toMatchObject({ produced_by: 'external', correlation_id: made.headers['x-correlation-id'] });
    });

    it('stores the visibility, and each tag once', async () => {
      const visibility = { kind: 'After', ttl: 'PT1H', then: { tenant_id: null, kind: 'Tenant' } };
      await publish({ type: 'Alarm', tags: ['b', 'a', 'b'], visibility }).set('X-Correlation-ID', 'stored');
      expect(await items('correlation_id=stored')).toEqual([
        expect.objectContaining({
          tags: ['b', 'a'],
          visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'Tenant', tenant_id: null } },
          visibility_kind: 'After',
        }),
      ]);
    });

    it('stores nothing of a refused publish', async () => {
      await publish({ type: 'Alarm', tags: [1] }).set('X-Correlation-ID', 'refused');
      await publish({ type: 'CustomerMessage', payload: {} }).set('X-Correlation-ID', 'refused');
      expect(await items('correlation_id=refused')).toEqual([]);
      expect((await get('/api/v1/correlations/refused/status')).body).toMatchObject({ state: 'not_found' });
    });
  });

  describe('POST /api/v1/artifacts/sync', () => {
    const produced = (type: string, producedBy: string, payload: object, tags: string[] = []): object => ({
      id: uuid,
      type,
      payload,
      produced_by: producedBy,
      visibility: { kind: 'Public' },
      visibility_kind: 'Public',
      created_at: timestamp,
      correlation_id: expect.any(String) as string,
      partition_key: null,
      tags,
      version: 1,
    });
    const INTENT = produced('Intent', 'classifier', { intent: 'card' }, ['classified']);
    const ROUTING = produced('Routing', 'router', { queue: 'cards' });
    const REVIEW = produced('Review', 'supervisor', { of: 'cards' });
    const answer = (artifacts: object[], completed = true): object => ({
      correlation_id: uuid,
      artifacts,
      completed,
      duration_ms: expect.any(Number) as number,
    });
    const failure = produced('WorkflowError', 'broken', {
      failed_agent: 'broken',
      error_type: expect.any(String) as string,
      error_message: expect.any(String) as string,
      timestamp,
      execution_id: uuid,
      attempts: 1,
      input_artifact_ids: [uuid],
    });

    check([
      [
        'answers with what agents produced, in the order of publishing',
        () => publishSync(MESSAGE),
        200,
        answer([INTENT, ROUTING, REVIEW]),
      ],
      [
        'keeps only the types asked for',
        () => publishSync({ ...MESSAGE, filters: { type_names: ['Routing', 'Intent'] } }),
        200,
        answer([INTENT, ROUTING]),
      ],
      [
        'keeps only the producers asked for',
        () => publishSync({ ...MESSAGE, filters: { produced_by: ['supervisor'] } }),
        200,
        answer([REVIEW]),
      ],
      [
        'keeps artifacts that both filters match',
        () => publishSync({ ...MESSAGE, filters: { type_names: ['Intent'], produced_by: ['router'] } }),
        200,
        answer([]),
      ],
      [
        'keeps everything for empty filters',
        () => publishSync({ ...MESSAGE, filters: { type_names: [], produced_by: [] } }),
        200,
        answer([INTENT, ROUTING, REVIEW]),
      ],
      ['answers with WorkflowError artifacts too', () => publishSync({ type: 'Trouble' }), 200, answer([failure])],
      ['is complete immediately if no agent reacts', () => publishSync({ type: 'Alarm' }), 200, answer([])],
      [
        'is not complete when the timeout comes first, which is not an error',
        () => publishSync({ type: 'Endless', timeout: 1 }),
        200,
        answer([], false),
      ],
      ['takes a timeout of 300 s', () => publishSync({ ...MESSAGE, timeout: 300 }), 200, expect.anything()],
      ['takes a fraction of a second', () => publishSync({ ...MESSAGE, timeout: 1.5 }), 200, expect.anything()],
      [
        'refuses a timeout of more than 300 s',
        () => publishSync({ timeout: 301 }),
        400,
        detail('timeout: must not be greater than 300; type: must be a string'),
      ],
      [
        'refuses a timeout of less than 1 s',
        () => publishSync({ ...MESSAGE, timeout: 0.9 }),
        400,
        detail('timeout: must not be less than 1'),
      ],
      [
        'refuses a timeout in words',
        () => publishSync({ ...MESSAGE, timeout: '30' }),
        400,
        detail('timeout: must be a number'),
      ],
      [
        'refuses filters that are not an object',
        () => publishSync({ ...MESSAGE, filters: [] }),
        400,
        detail('filters: must be an object'),
      ],
      [
        'refuses filters that are not lists',
        () => publishSync({ ...MESSAGE, filters: { type_names: 'Intent', produced_by: [1] } }),
        400,
        detail('filters.produced_by: each value must be a string; filters.type_names: must be an array'),
      ],
      ['refuses an unknown type', () => publishSync({ type: 'Nope' }), 400, detail(/^Unknown artifact type: Nope/)],
      [
        'refuses a webhook without a URL',
        () => publishSync({ ...MESSAGE, webhook: {} }),
        400,
        detail('webhook.url: must be a string'),
      ],
      [
        'refuses a correlation id with a space',
        () => publishSync(MESSAGE).set('X-Correlation-ID', 'a b'),
        400,
        detail(/^X-Correlation-ID: /),
      ],
    ]);

    it('answers with the given correlation id, and only with artifacts after this publish', async () => {
      const first = await publishSync(MESSAGE).set('X-Correlation-ID', 'twice');
      const second = await publishSync({ ...MESSAGE, filters: { type_names: ['Intent'] } }).set(
        'X-Correlation-ID',
        'twice',
      );
      expect(first.headers['x-correlation-id']).toBe('twice');
      expect(second.body).toMatchObject({ correlation_id: 'twice', artifacts: [{ type: 'Intent' }] });
      expect(await items('correlation_id=twice&type=Intent')).toHaveLength(2);
    });
  });

  describe('GET /api/v1/artifacts', () => {
    const page = (types: string[], limit = 50, offset = 0, total = types.length): object => ({
      items: types.map((type) => expect.objectContaining({ type }) as object),
      pagination: { limit, offset, total },
    });
    const values = (name: string, count: number): string =>
      Array.from({ length: count }, (_, n) => `${name}=V${n}`).join('&');
    const TOO_MANY = 'type, produced_by, visibility, tag: must have at most 50 values together (got 51)';
    const list = (query = ''): Test => get(`/api/v1/artifacts?${query}`);
    const ORDER_1 = ['CustomerMessage', 'Intent', 'Routing', 'Review'];

    check([
      ['lists oldest first, 50 a page', () => list('correlation_id=order-1'), 200, page(ORDER_1)],
      ['turns round with order=desc', () => list('correlation_id=order-1&order=desc'), 200, page(ORDER_1.toReversed())],
      [
        'pages by limit and offset',
        () => list('correlation_id=order-1&limit=2&offset=1'),
        200,
        page(['Intent', 'Routing'], 2, 1, 4),
      ],
      ['is empty behind the end', () => list('correlation_id=order-1&offset=9'), 200, page([], 50, 9, 4)],
      ['filters by type', () => list('correlation_id=order-1&type=Intent'), 200, page(['Intent'])],
      [
        'takes any of several types',
        () => list('correlation_id=order-1&type=Intent&type=Review'),
        200,
        page(['Intent', 'Review']),
      ],
      [
        'filters by producer',
        () => list('correlation_id=order-1&produced_by=router&produced_by=external'),
        200,
        page(['CustomerMessage', 'Routing']),
      ],
      ['filters by tag', () => list('correlation_id=order-1&tag=vip'), 200, page(['CustomerMessage'])],
      ['requires all of several tags', () => list('correlation_id=order-1&tag=vip&tag=classified'), 200, page([])],
      [
        'filters by visibility kind',
        () => list('correlation_id=order-1&visibility=Public&visibility=Private'),
        200,
        page(ORDER_1),
      ],
      ['filters by time', () => list('correlation_id=order-1&from=2020-01-01&to=2020-01-02T00:00:00Z'), 200, page([])],
      [
        'takes a date without a time zone as UTC',
        () => list('correlation_id=order-1&from=2020-01-01T00:00'),
        200,
        page(ORDER_1),
      ],
      ['finds nothing for an unknown correlation', () => list('correlation_id=unknown'), 200, page([])],
      ['ignores unknown parameters', () => list('correlation_id=unknown&colour=red'), 200, page([])],
      ['takes a limit of 500', () => list('correlation_id=unknown&limit=500'), 200, page([], 500)],
      ['refuses limit=0', () => list('limit=0'), 400, detail('limit: must be a whole number from 1 to 500')],
      ['refuses limit=501', () => list('limit=501'), 400, detail('limit: must be a whole number from 1 to 500')],
      ['refuses limit=abc', () => list('limit=abc'), 400, detail('limit: must be a whole number from 1 to 500')],
      ['refuses a limit given twice', () => list('limit=1&limit=2'), 400, detail('limit: must be given once')],
      [
        'refuses a negative offset',
        () => list('offset=-1'),
        400,
        detail('offset: must be a whole number of at least 0'),
      ],
      ['refuses an unreadable from', () => list('from=yesterday'), 400, detail('Invalid from: yesterday')],
      ['refuses an unreadable to', () => list('to=2026-13-01'), 400, detail('Invalid to: 2026-13-01')],
      ['refuses an unknown order', () => list('order=up'), 400, detail('order: must be one of asc, desc')],
      ['refuses embed_meta=maybe', () => list('embed_meta=maybe'), 400, detail('embed_meta: must be true or false')],
      [
        'refuses to page behind an unknown artifact',
        () => list(`after=${UNKNOWN_ID}`),
        400,
        detail(`after: must be the id of an artifact (got "${UNKNOWN_ID}")`),
      ],
      [
        'refuses to page behind a malformed id',
        () => list('after=1'),
        400,
        detail('after: must be the id of an artifact (got "1")'),
      ],
      [
        'takes 10 tags and 40 other values',
        () => list(`correlation_id=unknown&${values('tag', 10)}&${values('type', 40)}`),
        200,
        page([]),
      ],
      [
        'refuses more than 10 tags',
        () => list(values('tag', 11)),
        400,
        detail('tag: must contain no more than 10 elements'),
      ],
      [
        'refuses more than 50 values of one filter',
        () => list(values('type', 51)),
        400,
        detail('type: must contain no more than 50 elements'),
      ],
      [
        'refuses more than 50 values together',
        () => list(`${values('type', 30)}&${values('produced_by', 21)}`),
        400,
        detail(TOO_MANY),
      ],
      [
        'refuses as many for a summary',
        () => get(`/api/v1/artifacts/summary?${values('type', 45)}&${values('tag', 6)}`),
        400,
        detail(TOO_MANY),
      ],
      [
        'refuses as many for a history',
        () => get(`/api/v1/agents/router/history-summary?${values('type', 45)}&${values('tag', 6)}`),
        400,
        detail(TOO_MANY),
      ],
    ]);

    it('returns every field of an artifact', async () => {
      expect(await items('correlation_id=order-1&type=CustomerMessage')).toEqual([
        {
          id: uuid,
          type: 'CustomerMessage',
          payload: MESSAGE.payload,
          produced_by: 'external',
          visibility: { kind: 'Public' },
          visibility_kind: 'Public',
          created_at: timestamp,
          correlation_id: 'order-1',
          partition_key: null,
          tags: ['channel:chat', 'vip'],
          version: 3,
        },
      ]);
      expect(await items('correlation_id=order-2&type=Trouble')).toEqual([
        expect.objectContaining({ partition_key: 'p7', version: 1, payload: {} }),
      ]);
    });

    it('pages by position with after', async () => {
      const [first, second] = await items('correlation_id=order-1');
      expect(await items(`correlation_id=order-1&limit=1&offset=3&after=${String(first!.id)}`)).toEqual([second]);
      expect(await items(`correlation_id=order-1&order=desc&after=${String(second!.id).toUpperCase()}`)).toEqual([
        first,
      ]);
    });

    it('returns the consumers of an artifact with embed_meta', async () => {
      const [message, intent, , review] = await items('correlation_id=order-1&embed_meta=true');
      expect(message).toMatchObject({
        consumptions: [{ consumer: 'classifier', run_id: uuid, consumed_at: timestamp }],
        consumed_by: ['classifier'],
      });
      expect((intent!.consumed_by as string[]).toSorted()).toEqual(['router', 'supervisor']);
      expect(review).toMatchObject({ consumptions: [], consumed_by: [] });
      const [plain] = await items('correlation_id=order-1');
      expect(plain).not.toHaveProperty('consumptions');
      expect(plain).not.toHaveProperty('consumed_by');
    });

    it('treats from and to as inclusive', async () => {
      const [message] = await items('correlation_id=order-1&type=CustomerMessage');
      const at = encodeURIComponent(String(message!.created_at));
      expect(await items(`correlation_id=order-1&type=CustomerMessage&from=${at}&to=${at}`)).toEqual([message]);
    });
  });

  describe('GET /api/v1/artifacts/{artifact_id}', () => {
    check([
      [
        'does not know an unknown id',
        () => get(`/api/v1/artifacts/${UNKNOWN_ID}`),
        404,
        detail(`Artifact not found: ${UNKNOWN_ID}`),
      ],
      [
        'refuses an id that is not a UUID',
        () => get('/api/v1/artifacts/42'),
        400,
        detail('artifact_id: must be a UUID (got "42")'),
      ],
    ]);

    it('returns the artifact as the list does', async () => {
      const [listed] = await items('correlation_id=order-1&type=Intent');
      const { status, body } = await get(`/api/v1/artifacts/${String(listed!.id)}`);
      expect([status, body]).toEqual([200, listed]);
      expect((await get(`/api/v1/artifacts/${String(listed!.id).toUpperCase()}`)).body).toEqual(listed);
    });
  });

  describe('GET /api/v1/artifacts/summary', () => {
    const summary = (counts: object): object => ({
      summary: { earliest_created_at: timestamp, latest_created_at: timestamp, ...counts },
    });
    const summarize = (query: string): Test => get(`/api/v1/artifacts/summary?${query}`);
    const ORDER_1 = summary({
      total_count: 4,
      by_type: { CustomerMessage: 1, Intent: 1, Routing: 1, Review: 1 },
      by_producer: { external: 1, classifier: 1, router: 1, supervisor: 1 },
      by_visibility: { Public: 4 },
      by_tag: { 'channel:chat': 1, vip: 1, classified: 1 },
    });

    check([
      ['counts by type, producer, visibility and tag', () => summarize('correlation_id=order-1'), 200, ORDER_1],
      ['has no limit and no offset', () => summarize('correlation_id=order-1&limit=0&offset=abc'), 200, ORDER_1],
      [
        'takes the filters of the list',
        () =>
          summarize(
            'correlation_id=order-1&type=Intent&produced_by=classifier&tag=classified&visibility=Public&from=2020-01-01',
          ),
        200,
        summary({
          total_count: 1,
          by_type: { Intent: 1 },
          by_producer: { classifier: 1 },
          by_visibility: { Public: 1 },
          by_tag: { classified: 1 },
        }),
      ],
      [
        'counts nothing if nothing matches, and no tags unless they are requested',
        () => summarize('type=Nothing'),
        200,
        {
          summary: {
            total_count: 0,
            by_type: {},
            by_producer: {},
            by_visibility: {},
            earliest_created_at: null,
            latest_created_at: null,
          },
        },
      ],
      ['refuses an unreadable time', () => summarize('from=soon'), 400, detail('Invalid from: soon')],
    ]);
  });

  describe('GET /api/v1/artifact-types', () => {
    it('returns the declared types and the mentioned ones', async () => {
      const { status, body } = await get('/api/v1/artifact-types');
      const { artifact_types: types } = body as { artifact_types: { name: string }[] };
      expect(status).toBe(200);
      expect(types).toContainEqual({
        name: 'CustomerMessage',
        version: 3,
        description: 'What a customer wrote',
        schema: { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } },
      });
      expect(types).toContainEqual({ name: 'Routing', version: 1, description: '', schema: null });
      expect(types.map(({ name }) => name)).toContain('WorkflowError');
    });
  });

  describe('GET /api/v1/artifact-types/{name}', () => {
    check([
      [
        'gives a type that agents mention',
        () => get('/api/v1/artifact-types/Routing'),
        200,
        { name: 'Routing', version: 1, description: '', schema: null },
      ],
      [
        'names the nearest one',
        () => get('/api/v1/artifact-types/CustomerMesage'),
        404,
        detail('Artifact type not found: CustomerMesage; did you mean CustomerMessage?'),
      ],
      [
        'says where the known ones are',
        () => get('/api/v1/artifact-types/__proto__'),
        404,
        detail('Artifact type not found: __proto__; GET /api/v1/artifact-types lists the known ones'),
      ],
    ]);
  });

  describe('GET /api/v1/agents', () => {
    check([
      [
        'lists agents with their subscriptions and outputs, in the order of the configuration',
        () => get('/api/v1/agents'),
        200,
        {
          agents: [
            {
              name: 'classifier',
              description: 'Names the intent of a message',
              subscriptions: [{ types: ['CustomerMessage'], mode: 'all' }],
              outputs: ['Intent'],
              paused: false,
            },
            {
              name: 'router',
              description: 'Sends an intent to its queue',
              subscriptions: [{ types: ['Intent'], mode: 'any' }],
              outputs: ['Routing'],
              paused: false,
            },
            {
              name: 'supervisor',
              description: '',
              subscriptions: [{ types: ['Intent', 'Routing'], mode: 'all' }],
              outputs: ['Review', 'Alarm'],
              paused: false,
            },
            {
              name: 'broken',
              description: '',
              subscriptions: [{ types: ['Trouble'], mode: 'all' }],
              outputs: ['Nothing'],
              paused: false,
            },
            {
              name: 'slow',
              description: '',
              subscriptions: [{ types: ['Endless'], mode: 'all' }],
              outputs: ['Never'],
              paused: false,
            },
          ],
        },
      ],
    ]);
  });

  describe('POST /api/v1/agents/{agent_name}/run', () => {
    const run = (name: string, ...inputs: unknown[]): Test => post(`/api/v1/agents/${name}/run`, { inputs });
    const INTENT = { type: 'Intent', payload: { intent: 'card' } };
    const ROUTING = { type: 'Routing', payload: { queue: 'cards' } };

    check([
      [
        'runs the agent on one artifact',
        () => run('router', INTENT),
        200,
        {
          artifacts: [
            expect.objectContaining({ id: uuid, type: 'Routing', payload: { queue: 'cards' }, produced_by: 'router' }),
          ],
        },
      ],
      [
        'runs it on one artifact of each type that it joins',
        () => run('supervisor', ROUTING, INTENT),
        200,
        { artifacts: [expect.objectContaining({ type: 'Review', payload: { of: 'cards' } })] },
      ],
      ['does not know an unknown agent', () => run('nobody', INTENT), 404, detail('Agent not found: nobody')],
      [
        'refuses inputs that fit no subscription',
        () => run('supervisor', INTENT),
        400,
        detail('inputs: supervisor takes one each of Intent and Routing (got Intent)'),
      ],
      ['refuses inputs of another type', () => run('router', ROUTING), 400, detail(/^inputs: router takes one Intent/)],
      ['refuses no inputs', () => run('router'), 400, detail(/^inputs: router takes one Intent/)],
      [
        'refuses a payload that its schema refuses',
        () => run('classifier', { type: 'CustomerMessage', payload: { text: 7 } }),
        400,
        detail('inputs[0]: payload.text: must be string'),
      ],
      [
        'refuses another type before it checks the payload',
        () => run('classifier', { type: 'Intent', payload: {} }),
        400,
        detail('inputs: classifier takes one CustomerMessage (got Intent)'),
      ],
      [
        'refuses inputs that are not a list',
        () => post('/api/v1/agents/router/run', { inputs: INTENT }),
        400,
        detail('inputs: must be a list of objects with type and payload'),
      ],
      [
        'refuses a body without inputs',
        () => post('/api/v1/agents/router/run', {}),
        400,
        detail('inputs: must be a list of objects with type and payload'),
      ],
      [
        'names every bad input',
        () => run('router', 7, { type: 1 }),
        400,
        detail(
          'inputs: [0] must be an object with type and payload; inputs: [1].type must be a string; inputs: [1].payload must be an object',
        ),
      ],
      [
        'answers a failure of the agent with a 500 that names the agent and the reason',
        () => run('broken', { type: 'Trouble', payload: {} }),
        500,
        detail(/^Agent broken failed: .*missing/),
      ],
    ]);

    it('stores inputs and outputs in a separate correlation, and no agent reacts', async () => {
      const { body } = await run('classifier', MESSAGE);
      const [intent] = (body as { artifacts: { correlation_id: string }[] }).artifacts;
      const stored = await items(`correlation_id=${intent!.correlation_id}`);
      expect(stored.map(({ type, produced_by }) => [type, produced_by])).toEqual([
        ['CustomerMessage', 'external'],
        ['Intent', 'classifier'],
      ]);
      expect((await get(`/api/v1/correlations/${intent!.correlation_id}/status`)).body).toMatchObject({
        state: 'completed',
        artifact_count: 2,
      });
    });

    it('stores the error of an agent that failed', async () => {
      const before = await items('type=WorkflowError&limit=500');
      await run('broken', { type: 'Trouble', payload: {} });
      expect(await items('type=WorkflowError&limit=500')).toHaveLength(before.length + 1);
    });
  });

  describe('GET /api/v1/agents/{agent_id}/history-summary', () => {
    const history = (agent: string, query = ''): Test => get(`/api/v1/agents/${agent}/history-summary?${query}`);
    const hour = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/) as string;

    check([
      ['does not know an unknown agent', () => history('nobody'), 404, detail('Agent not found: nobody')],
      ['refuses an unreadable time', () => history('router', 'to=later'), 400, detail('Invalid to: later')],
      [
        'is empty for an agent without matching executions',
        () => history('router', 'correlation_id=unknown'),
        200,
        {
          agent_id: 'router',
          summary: {
            total_executions: 0,
            total_artifacts_consumed: 0,
            total_artifacts_produced: 0,
            execution_timeline: {},
          },
        },
      ],
    ]);

    const only = async (agent: string, query: string): Promise<object> => {
      const { body } = await history(agent, query);
      const { summary, agent_id } = body as {
        agent_id: string;
        summary: { execution_timeline: Record<string, object> };
      };
      const [[name, counts]] = Object.entries(summary.execution_timeline) as [[string, object]];
      expect(Object.keys(summary.execution_timeline)).toEqual([name]);
      expect(name).toEqual(hour);
      return { ...summary, execution_timeline: counts, agent_id };
    };

    it('counts executions by hour, and with a filter the matching artifacts of these', async () => {
      expect(await only('supervisor', 'correlation_id=order-1')).toEqual({
        agent_id: 'supervisor',
        total_executions: 1,
        total_artifacts_consumed: 2,
        total_artifacts_produced: 1,
        execution_timeline: { executions: 1, failures: 0, artifacts_consumed: 2, artifacts_produced: 1 },
      });
      expect(await only('supervisor', 'correlation_id=order-1&type=Routing')).toMatchObject({
        total_executions: 1,
        execution_timeline: { executions: 1, failures: 0, artifacts_consumed: 1, artifacts_produced: 0 },
      });
      expect(await only('broken', 'correlation_id=order-2')).toMatchObject({
        execution_timeline: { executions: 1, failures: 1, artifacts_consumed: 1, artifacts_produced: 1 },
      });
    });
  });

  describe('GET /api/v1/activity', () => {
    const activity = (query = ''): Test => get(`/api/v1/activity?${query}`);

    check([
      ['does not know an unknown agent', () => activity('agent=nobody'), 404, detail('Agent not found: nobody')],
      ['refuses an unknown window', () => activity('window=30d'), 400, detail('window: must be one of 1h, 24h, 7d')],
      [
        'refuses an unknown step',
        () => activity('step=2m'),
        400,
        detail('step: must be one of 1m, 5m, 15m, 1h, 6h, 1d'),
      ],
      [
        'refuses a step that is as long as the window',
        () => activity('window=1h&step=1h'),
        400,
        detail('step: must be shorter than the window of 1h'),
      ],
      [
        'refuses a step that is finer than what is kept',
        () => activity('window=7d&step=15m&agent=router'),
        400,
        detail('step: must be at least 1h in a window of 7d'),
      ],
      [
        'refuses more steps than an answer for all agents has',
        () => activity('window=24h&step=5m'),
        400,
        detail('step: must be at least 15m in a window of 24h, unless agent names one agent'),
      ],
    ]);

    const quantiles = {
      p50: expect.any(Number) as number,
      p95: expect.any(Number) as number,
      p99: expect.any(Number) as number,
    };

    it.each([
      ['', '1h', '1m'],
      ['window=24h', '24h', '15m'],
      ['window=7d', '7d', '1h'],
      ['window=24h&step=1h', '24h', '1h'],
    ])('with "%s" has a window of %s in steps of %s', async (query, window, step) => {
      const { status, body } = await activity(query);
      const { agents, total, ...rest } = body as { agents: { agent: string }[]; total: object };
      expect([status, rest]).toEqual([200, { window, step, since: timestamp, from: timestamp, to: timestamp }]);
      expect(agents.map(({ agent }) => agent)).toEqual(agents.map(({ agent }) => agent).sort());
      const series = {
        starts: expect.any(Number) as number,
        ends: expect.any(Number) as number,
        failures: expect.any(Number) as number,
        retries: 0,
        duration_ms: quantiles,
        queue_ms: quantiles,
        steps: expect.any(Array) as unknown[],
      };
      expect(total).toEqual(series);
      expect(agents.find(({ agent }) => agent === 'supervisor')).toEqual({ agent: 'supervisor', ...series });
    });

    it('has every step of one agent, also where it did nothing', async () => {
      const { body } = await activity('window=24h&step=1m&agent=supervisor');
      const { total, agents, since, to } = body as {
        total: { steps: { start: string; starts: number; ends: number }[] };
        agents: object[];
        since: string;
        to: string;
      };
      expect(agents).toEqual([{ agent: 'supervisor', ...total }]);
      const minutes = total.steps.map(({ start }) => Date.parse(start) / 60_000);
      expect(minutes[0]).toBe(Math.floor(Date.parse(since) / 60_000));
      expect(minutes.at(-1)).toBe(Math.floor(Date.parse(to) / 60_000));
      for (const step of total.steps) {
        expect(step).toEqual({
          start: timestamp,
          starts: expect.any(Number) as number,
          ends: expect.any(Number) as number,
          failures: 0,
          retries: 0,
          duration_ms: step.ends > 0 ? quantiles : null,
          queue_ms: step.starts > 0 ? quantiles : null,
        });
      }
    });
  });

  describe('GET /api/v1/correlations', () => {
    const list = (query: string): Test => get(`/api/v1/correlations?${query}`);
    const ORDERS = ['order-2', 'order-1'];
    const page = (ids: string[], { limit = 50, has_more = false } = {}): object => ({
      items: ids.map((id) => expect.objectContaining({ correlation_id: id }) as object),
      pagination: { limit, has_more },
    });

    check([
      [
        'shows the status, what is pending and how long it took',
        () => list('id_prefix=order-1'),
        200,
        {
          items: [
            {
              correlation_id: 'order-1',
              state: 'completed',
              has_pending_work: false,
              artifact_count: 4,
              error_count: 0,
              started_at: timestamp,
              last_activity_at: timestamp,
              pending_count: 0,
              settled_at: timestamp,
              duration_ms: expect.any(Number) as number,
            },
          ],
          pagination: { limit: 50, has_more: false },
        },
      ],
      ['lists newest first', () => list('id_prefix=order-'), 200, page(ORDERS)],
      ['has pages', () => list('id_prefix=order-&limit=1'), 200, page(['order-2'], { limit: 1, has_more: true })],
      ['continues after a correlation', () => list('id_prefix=order-&after=order-2'), 200, page(['order-1'])],
      ['filters by state', () => list('id_prefix=order-&state=failed'), 200, page(['order-2'])],
      ['filters by agent', () => list('id_prefix=order-&agent=classifier'), 200, page(['order-1'])],
      ['filters by type', () => list('id_prefix=order-&type=Trouble'), 200, page(['order-2'])],
      ['filters by tag', () => list('id_prefix=order-&tag=vip'), 200, page(['order-1'])],
      ['filters by start', () => list('id_prefix=order-&to=2020-01-02T00:00:00Z'), 200, page([])],
      ['finds nothing for an unknown agent', () => list('agent=unknown'), 200, page([])],
      ['ignores unknown parameters', () => list('id_prefix=order-&colour=red'), 200, page(ORDERS)],
      ['takes a limit of 500', () => list('id_prefix=order-&limit=500'), 200, page(ORDERS, { limit: 500 })],
      ['refuses a limit of 501', () => list('limit=501'), 400, detail('limit: must be a whole number from 1 to 500')],
      [
        'refuses an unknown state',
        () => list('state=not_found'),
        400,
        detail('state: must be one of active, completed, failed, cancelled'),
      ],
      [
        'refuses an empty prefix',
        () => list('id_prefix='),
        400,
        detail('id_prefix: must be 1 to 200 visible ASCII characters'),
      ],
      [
        'refuses to continue after an unknown correlation',
        () => list('after=unknown'),
        400,
        detail('after: must be the id of a correlation (got unknown)'),
      ],
      ['refuses a time that is none', () => list('from=yesterday'), 400, detail('Invalid from: yesterday')],
    ]);
  });

  describe('GET /api/v1/correlations/{correlation_id}/status', () => {
    const status = (id: string): Test => get(`/api/v1/correlations/${id}/status`);
    const state = (id: string, more: object): object => ({
      correlation_id: id,
      has_pending_work: false,
      started_at: timestamp,
      last_activity_at: timestamp,
      ...more,
    });

    check([
      [
        'completed: it finished, and agents produced artifacts',
        () => status('order-1'),
        200,
        state('order-1', { state: 'completed', artifact_count: 4, error_count: 0 }),
      ],
      [
        'failed: it finished with errors only',
        () => status('order-2'),
        200,
        state('order-2', { state: 'failed', artifact_count: 2, error_count: 1 }),
      ],
      [
        'not_found: no artifact has this correlation id',
        () => status('unknown'),
        200,
        {
          correlation_id: 'unknown',
          state: 'not_found',
          has_pending_work: false,
          artifact_count: 0,
          error_count: 0,
          started_at: null,
          last_activity_at: null,
        },
      ],
    ]);

    it('active: some work is left', async () => {
      await publish({ type: 'Endless' }).set('X-Correlation-ID', 'endless');
      await eventually('the agent runs', async () => (await status('endless')).body.state === 'active');
      expect((await status('endless')).body).toMatchObject({
        state: 'active',
        has_pending_work: true,
        artifact_count: 1,
        error_count: 0,
      });
    });

    it('completed: errors beside outputs are not a failure', async () => {
      await publish({ type: 'Trouble' }).set('X-Correlation-ID', 'mixed');
      await publishSync(MESSAGE).set('X-Correlation-ID', 'mixed');
      expect((await status('mixed')).body).toMatchObject({ state: 'completed', error_count: 1 });
    });
  });

  describe('GET /api/v1/correlations/{correlation_id}/waiting', () => {
    const waiting = (id: string, query = ''): Test => get(`/api/v1/correlations/${id}/waiting${query}`);
    const KINDS = [
      'release',
      'deadline',
      'join',
      'window',
      'running',
      'held',
      'retry',
      'ready',
      'unclaimed',
      'concurrency',
      'slots',
      'paused',
      'no_process',
      'budget',
    ];
    const counts = (some: Record<string, number>): object => ({
      ...Object.fromEntries(KINDS.map((kind) => [kind, 0])),
      ...some,
    });
    const execution = {
      execution_id: uuid,
      agent: 'slow',
      attempt: 1,
      since: timestamp,
      until: null,
      assignee: null,
      claimed_by: null,
      due_at: null,
    };

    beforeAll(async () => {
      await publish({ type: 'Endless', deadline: 'PT1H' }).set('X-Correlation-ID', 'waits');
      await publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'PT1H' } }).set('X-Correlation-ID', 'waits');
      await publish({ type: 'Routing' }).set('X-Correlation-ID', 'waits');
      await eventually('the agent runs', async () => (await waiting('waits')).body.counts.running === 1);
    });

    check([
      [
        'lists timers, joins and executions, and counts them by kind',
        () => waiting('waits'),
        200,
        {
          correlation_id: 'waits',
          state: 'active',
          counts: counts({ deadline: 1, release: 1, join: 1, running: 1 }),
          items: [
            { kind: 'deadline', artifact_id: null, artifact_type: null, since: null, until: timestamp },
            { kind: 'release', artifact_id: uuid, artifact_type: 'Alarm', since: timestamp, until: timestamp },
            expect.objectContaining({ kind: 'join', agent: 'supervisor', waiting_for: ['Intent'], until: null }),
            { kind: 'running', ...execution },
          ],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      [
        'takes limit, and gives the cursor of the next page',
        () => waiting('waits', '?limit=1'),
        200,
        expect.objectContaining({
          items: [expect.objectContaining({ kind: 'deadline' })],
          pagination: { limit: 1, after: null, next: expect.any(String) as string, has_more: true },
        }),
      ],
      [
        'is empty for a correlation that has ended',
        () => waiting('order-1'),
        200,
        {
          correlation_id: 'order-1',
          state: 'completed',
          counts: counts({}),
          items: [],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      ['is a 404 for an unknown one', () => waiting('unknown'), 404, detail('Correlation not found: unknown')],
      [
        'refuses a limit beyond 500',
        () => waiting('waits', '?limit=501'),
        400,
        detail('limit: must be a whole number from 1 to 500'),
      ],
      [
        'refuses a cursor that no page gave',
        () => waiting('waits', '?after=2'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "2")'),
      ],
    ]);

    it('goes from page to page', async () => {
      const kinds: string[] = [];
      for (let after: string | null = ''; after !== null;) {
        const { body } = await waiting('waits', `?limit=1${after && `&after=${after}`}`);
        kinds.push(...(body as { items: { kind: string }[] }).items.map(({ kind }) => kind));
        after = (body as { pagination: { next: string | null } }).pagination.next;
      }
      expect(kinds).toEqual(['deadline', 'release', 'join', 'running']);
    });
  });

  describe('GET /api/v1/waiting and /api/v1/waiting/{group_id}', () => {
    const groups = (query: string): Test => get(`/api/v1/waiting?${query}`);
    const group = {
      kind: 'join',
      group_id: uuid,
      agent: 'supervisor',
      subscription: 0,
      types: ['Intent', 'Routing'],
      join_key: '"half"',
      correlation_id: 'half',
      state: 'waiting',
      received: { Routing: 1 },
      waiting_for: ['Intent'],
      size: 1,
      size_needed: 2,
      since: timestamp,
      until: null,
      without_process: false,
    };
    const pagination = { limit: 50, after: null, next: null, has_more: false };

    beforeAll(() => publish({ type: 'Routing' }).set('X-Correlation-ID', 'half').expect(200));

    check([
      ['lists groups', () => groups('correlation_id=half&agent=supervisor'), 200, { items: [group], pagination }],
      ['is empty if none matches', () => groups('agent=router'), 200, { items: [], pagination }],
      [
        'refuses a cursor that no page gave',
        () => groups('after=2'),
        400,
        detail('after: must be next of an earlier page with the same filters (got "2")'),
      ],
      [
        'is a 404 for an unknown group',
        () => get(`/api/v1/waiting/${UNKNOWN_ID}`),
        404,
        detail(`Waiting group not found: ${UNKNOWN_ID}`),
      ],
    ]);

    it('shows a group with its artifacts', async () => {
      const { items: listed } = (await groups('correlation_id=half')).body as { items: { group_id: string }[] };
      const [artifact] = await items('correlation_id=half');
      expect((await get(`/api/v1/waiting/${listed[0]!.group_id}`)).body).toEqual({
        ...group,
        items: [{ artifact_id: artifact!.id, artifact_type: 'Routing', correlation_id: 'half', arrived_at: timestamp }],
        pagination,
      });
    });
  });

  describe('Health, metrics, documentation', () => {
    check([
      ['GET /health answers ok', () => get('/health'), 200, expect.objectContaining({ status: 'ok' })],
      ['GET /health/live answers ok', () => get('/health/live'), 200, expect.objectContaining({ status: 'ok' })],
      ['GET /health/ready answers ok', () => get('/health/ready'), 200, expect.objectContaining({ status: 'ok' })],
      [
        'GET /openapi.json is OpenAPI 3.0',
        () => get('/openapi.json'),
        200,
        expect.objectContaining({ openapi: expect.stringMatching(/^3\.0\./) as string }),
      ],
      ['an unknown route is a 404', () => get('/api/v1/nothing'), 404, detail(/^No route for GET \/api\/v1\/nothing/)],
      [
        'another method is a 405',
        () => app.http.delete('/api/v1/agents'),
        405,
        detail(/^DELETE is not allowed at \/api\/v1\/agents; use GET, HEAD$/),
      ],
    ]);

    it('GET /metrics gives the three metrics without labels, in the text format', async () => {
      const response = await get('/metrics');
      expect(response.headers['content-type']).toMatch(/^text\/plain/);
      for (const name of ['blackboard_artifacts_total', 'blackboard_agents_count', 'blackboard_executions_total']) {
        expect(response.text).toMatch(new RegExp(`^${name} [1-9]\\d*$`, 'm'));
      }
    });

    it('GET /docs is HTML', async () => {
      expect((await get('/docs')).headers['content-type']).toMatch(/^text\/html/);
    });
  });

  describe('groups of failures, and operations', () => {
    const number = expect.any(Number) as number;
    const text = expect.any(String) as string;
    const operation = {
      operation_id: uuid,
      kind: 'retry',
      filter: { agent: 'nobody', from: '2026-11-20T00:00:00.000Z' },
      state: 'completed',
      matched: 0,
      done: 0,
      failed: 0,
      last_error: null,
      created_at: timestamp,
      ended_at: timestamp,
    };
    check([
      [
        'failed executions are listed in groups',
        () => get('/api/v1/executions/failures?agent=broken'),
        200,
        {
          items: [
            {
              group: expect.stringMatching(/^[\da-f]{32}$/) as string,
              agent: 'broken',
              error_type: text,
              message: text,
              count: number,
              first_at: timestamp,
              last_at: timestamp,
              example: uuid,
            },
          ],
          pagination: { limit: 50, after: null, next: null, has_more: false },
        },
      ],
      [
        'a filter that matches no failure gives an empty list',
        () => get('/api/v1/executions/failures?error_type=None&limit=1'),
        200,
        { items: [], pagination: { limit: 1, after: null, next: null, has_more: false } },
      ],
      [
        'a page begins after another one',
        () => get('/api/v1/executions/failures?after=7'),
        400,
        detail('after: must be next of an earlier page (got "7")'),
      ],
      [
        'a dry run only counts',
        () => post('/api/v1/executions/retry', { agent: 'broken', dry_run: true }),
        200,
        { matched: number },
      ],
      [
        'an operation that matches nothing has completed',
        () => post('/api/v1/executions/retry', { agent: 'nobody', from: '2026-11-20' }),
        200,
        operation,
      ],
      [
        'operations are listed',
        () => get('/api/v1/operations'),
        200,
        { items: [operation], pagination: { limit: 50, offset: 0, has_more: false } },
      ],
      [
        'an operation needs a filter',
        () => post('/api/v1/executions/fail', { dry_run: true }),
        400,
        detail('The body needs a filter: agent, correlation_id, from or to'),
      ],
      [
        'an unknown agent is a 404',
        () => post('/api/v1/executions/fail', { agent: 'nobody' }),
        404,
        detail('Agent not found: nobody'),
      ],
      [
        'an agent that a process has is a 409',
        () => post('/api/v1/executions/fail', { agent: 'broken' }),
        409,
        detail('A live process has the agent broken and runs its executions; GET /api/v1/processes shows which'),
      ],
      [
        'an unknown operation is a 404',
        () => get(`/api/v1/operations/${UNKNOWN_ID}`),
        404,
        detail(`Operation not found: ${UNKNOWN_ID}`),
      ],
      [
        'an unknown operation cannot be cancelled',
        () => post(`/api/v1/operations/${UNKNOWN_ID}/cancel`, {}),
        404,
        detail(`Operation not found: ${UNKNOWN_ID}`),
      ],
    ]);
  });
});
