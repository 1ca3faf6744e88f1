// Uses the application over HTTP: payloads are data, refused requests store nothing, and the log reports requests
// without their content.
import { startApp, type TestApp } from '../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    config: `
agents:
  echo:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"heard": true}' }
`,
  });
});
afterAll(() => app.close());

async function publish(payload: object): Promise<object> {
  const { headers } = await app.http.post('/api/v1/artifacts').send({ type: 'Message', payload }).expect(200);
  const correlation = headers['x-correlation-id'] as string;
  const { body } = await app.http
    .get('/api/v1/artifacts')
    .query({ correlation_id: correlation, type: 'Message' })
    .expect(200);
  return (body as { items: { payload: object }[] }).items[0]!.payload;
}

/** Leaves out artifacts that the agent makes of earlier ones meanwhile. */
const total = async (): Promise<number> =>
  (
    (await app.http.get('/api/v1/artifacts/summary').query({ type: 'Message' }).expect(200)).body as {
      summary: { total_count: number };
    }
  ).summary.total_count;

it.each([
  [
    'keys that mean something to JavaScript',
    { then: 'x', toString: 'y', constructor: 'z', hasOwnProperty: null, length: -1 },
  ],
  ['a list under constructor', { constructor: ['x'] }],
  [
    'texts of every kind',
    { nul: 'a\0b', bird: '\u{1f426}', half: '\ud800', lines: '\r\n\u2028', rtl: '\u202e', html: '</script>' },
  ],
  ['numbers at the ends', { max: Number.MAX_VALUE, min: Number.MIN_VALUE, big: 2 ** 53, negative: -1e-300 }],
  ['emptiness', { '': '', a: [], b: {}, c: null, d: [[], [null]] }],
  ['keys in their order', { b: 1, a: 2, z: 3, '10': 4 }],
  [
    '200 KB',
    { rows: Array.from({ length: 3_000 }, (_, index) => ({ index, text: 'some words that a customer wrote' })) },
  ],
])('a payload of %s is returned as it was sent', async (_name, payload) => {
  const stored = await publish(payload);
  expect(JSON.stringify(stored)).toBe(JSON.stringify(payload));
});

it('a payload of 64 levels is stored, and a deeper one is not', async () => {
  // The body is the first level, the payload the second.
  const nested = (levels: number): object => (levels === 0 ? {} : { deeper: nested(levels - 1) });
  expect(await publish(nested(62))).toEqual(nested(62));
  await app.http
    .post('/api/v1/artifacts')
    .send({ type: 'Message', payload: nested(63) })
    .expect(400);
});

it.each([
  ['malformed JSON', '{"type":"Message"', 'application/json', 400],
  ['a list', '[{"type":"Message"}]', 'application/json', 400],
  ['a form', 'type=Message', 'application/x-www-form-urlencoded', 415],
  [
    'more than the limit',
    JSON.stringify({ type: 'Message', payload: { text: 'x'.repeat(1_048_576) } }),
    'application/json',
    413,
  ],
])('%s is refused and stores nothing', async (_name, body, contentType, status) => {
  const before = await total();
  for (const path of ['/api/v1/artifacts', '/api/v1/artifacts/sync', '/api/v1/agents/echo/run']) {
    const answer = await app.http.post(path).set('Content-Type', contentType).send(body);
    expect([path, answer.status, Object.keys(answer.body as object)]).toEqual([path, status, ['detail']]);
    expect(answer.headers['x-request-id']).toBeDefined();
  }
  expect(await total()).toBe(before);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

it('a configured limit applies', async () => {
  const small = await startApp({ settings: { bodyLimitBytes: 100 } });
  await small.http
    .post('/api/v1/artifacts')
    .send({ type: 'x'.repeat(100) })
    .expect(413, { detail: 'The body is larger than 100 bytes' });
  await small.close();
});

it('logs one line per request: the correlation if it is known, never a payload or a query', async () => {
  const { headers } = await app.http
    .post('/api/v1/artifacts/sync')
    .set('X-Correlation-ID', 'order-4711')
    .send({ type: 'Message', payload: { card: '4111-1111' } })
    .expect(200);
  await app.http.get('/api/v1/artifacts').query({ tag: 'customer:jane' }).expect(200);
  await app.http.get('/health/live').expect(200);
  const lines = app.logLines.filter((line) => line['request_id'] === headers['x-request-id']);
  expect(lines).toEqual([
    expect.objectContaining({
      method: 'POST',
      path: '/api/v1/artifacts/sync',
      status: 200,
      correlation_id: 'order-4711',
      ms: expect.any(Number),
    }),
  ]);
  const log = JSON.stringify(app.logLines);
  for (const secret of ['4111-1111', 'jane', '/health/live']) expect(log).not.toContain(secret);
});

it.each([
  '/api/v1/artifacts/%FF',
  '/api/v1/artifacts/%',
  '/api/v1/artifacts/..%2f..%2fetc',
  '/docs/..%2f..%2fpackage.json',
  '//',
  '/api/v1/artifacts/%00',
  '/batch/%00',
  '/api/v1/agents//run',
])('GET %s is a 4xx', async (path) => {
  const answer = await fetch(`${app.url}${path}`);
  expect([400, 404]).toContain(answer.status);
  expect(Object.keys((await answer.json()) as object)).toEqual(['detail']);
});

it('HEAD answers as GET does, without the body', async () => {
  const { headers, text } = await app.http.head('/api/v1/agents').expect(200);
  expect([headers['content-type'], Number(headers['content-length']) > 0, text]).toEqual([
    'application/json; charset=utf-8',
    true,
    undefined,
  ]);
});
