import type { Test } from 'supertest';

import { describeInterfaceB, MESSAGE } from './interface-b.js';
import { check, detail, timestamp, UNKNOWN_ID, UUID, uuid } from './rows.js';

describeInterfaceB(({ get, items }) => {
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
      [
        'refuses an unreadable from',
        () => list('from=yesterday'),
        400,
        detail('Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'),
      ],
      [
        'refuses an unreadable to',
        () => list('to=2026-13-01'),
        400,
        detail('Invalid to: 2026-13-01; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'),
      ],
      ['refuses an unknown order', () => list('order=up'), 400, detail('order: must be one of asc, desc')],
      [
        'refuses an unknown kind of visibility',
        () => list('visibility=Public&visibility=public'),
        400,
        detail('visibility: must be one of Public, Private, Labelled, Tenant, After'),
      ],
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
          execution_id: null,
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

    it('names the execution that published an artifact', async () => {
      const [message, intent] = await items('correlation_id=order-1&embed_meta=true');
      const [consumption] = message!.consumptions as { run_id: string }[];
      expect(intent).toMatchObject({ type: 'Intent', execution_id: consumption!.run_id });
      expect((await get(`/api/v1/artifacts/${String(intent!.id)}`)).body).toMatchObject({
        execution_id: consumption!.run_id,
      });
      const [error] = await items('correlation_id=order-2&type=WorkflowError');
      expect(error!.execution_id).toMatch(UUID);
      expect(error!.execution_id).toBe((error!.payload as { execution_id: string }).execution_id);
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
      [
        'refuses an unreadable time and an unknown kind of visibility',
        () => summarize('from=soon&visibility=public'),
        400,
        detail(
          'Invalid from: soon; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24; visibility: must be one of Public, Private, Labelled, Tenant, After',
        ),
      ],
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
});
