import { describeInterfaceB, MESSAGE } from './interface-b.js';
import { check, detail, UUID } from './rows.js';

describeInterfaceB((api) => {
  const { get, items, publish } = api;

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
      ['refuses a body without a type', () => publish({}), 400, detail('type: is required')],
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
        () => publish({ type: 'Alarm', visibility: { kind: 'After', ttl: 'an hour' } }),
        400,
        detail('visibility: ttl must be a duration such as 30m, PT1H or P2D (without years or months)'),
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
        () => api.app.http.post('/api/v1/artifacts').type('json').send('{"type":'),
        400,
        detail(/JSON/),
      ],
      [
        'refuses a body that is not an object',
        () => api.app.http.post('/api/v1/artifacts').type('json').send('[]'),
        400,
        detail('The body must be a JSON object'),
      ],
      [
        'refuses another content type',
        () => api.app.http.post('/api/v1/artifacts').type('text/plain').send('hello'),
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
});
