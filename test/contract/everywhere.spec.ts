import type { Server } from 'node:http';
import { connect } from 'node:net';

import type { Response, Test } from 'supertest';

import { Database } from '../../src/database/database.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ORDER = { type: 'Order', payload: { n: 1 } };

/** The rules of docs/api.md for all routes: its beginning and "Errors". Uses the application, its database and HTTP. */
describe('everywhere', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({
      config: CONFIG,
      settings: { bodyLimitBytes: 2_000, allowedHosts: ['desk.test'], corsOrigins: ['https://app.test'] },
    });
  });

  afterAll(() => app.close());

  const post = (path: string, body: unknown, type = 'application/json'): Test =>
    app.http
      .post(path)
      .set('Content-Type', type)
      .send(typeof body === 'string' ? body : JSON.stringify(body));
  const publish = (body: unknown): Test => post('/api/v1/artifacts', body);
  const status = (correlation: string): Test =>
    app.http.get(`/api/v1/correlations/${encodeURIComponent(correlation)}/status`);

  /** Creates a closed correlation; so far only the database can close one. */
  async function publishIntoClosed(path: string, correlation: string): Promise<Response> {
    await post('/api/v1/artifacts/sync', ORDER).set('X-Correlation-ID', correlation).expect(200);
    await app.app
      .get(UnitOfWork, { strict: false })
      .run((tx) => tx.db.updateTable('correlations').set({ closed: 1 }).where('id', '=', correlation).execute());
    return post(path, ORDER).set('X-Correlation-ID', correlation);
  }

  const NO_JSON = 'Send the body as JSON in UTF-8, with the header Content-Type: application/json';
  const NESTED = `{"type":"Order","payload":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`;

  describe.each(['/ws', '/ws/changelog'])('at %s', (path) => {
    it.each(['post', 'put', 'trace'] as const)('%s is a 405', async (method) => {
      const detail = `${method.toUpperCase()} is not allowed at ${path}; use GET, HEAD`;
      await app.http[method](path).expect(405, { detail }).expect('Allow', 'GET, HEAD');
    });

    it('a request without a handshake gets an error that a WebSocket is needed', async () => {
      const { status: answered, body, headers } = await app.http.get(path);
      expect([answered, headers.upgrade, headers.connection]).toEqual([426, 'websocket', 'Upgrade']);
      expect(body).toEqual({
        detail: 'This path is a WebSocket; connect with ws:// or wss://, or read GET /api/v1/changelog/stream',
      });
    });

    it('a handshake by POST is a 405', async () => {
      await app.http
        .post(path)
        .set({
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        })
        .expect(405)
        .expect('Allow', 'GET, HEAD');
    });
  });

  it.each([
    ['/api/v1/artifacts', 'GET, HEAD, POST'],
    ['/mcp', 'POST'],
    ['/docs', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/ws', 'GET, HEAD'],
    ['/health/live', 'GET, HEAD'],
  ])('OPTIONS %s lists the methods', async (path, allow) => {
    const { status: answered, headers, text } = await app.http.options(path);
    expect([answered, headers.allow, text]).toEqual([204, allow, '']);
  });

  it('OPTIONS of an unknown path is a 404', async () => void (await app.http.options('/api/v2/artifacts').expect(404)));

  it.each<[string, () => PromiseLike<Response>, number, string]>([
    [
      'an unknown route',
      () => app.http.get('/api/v2/artifacts'),
      404,
      'No route for GET /api/v2/artifacts; /docs lists them all',
    ],
    [
      'a method that a route does not have',
      () => app.http.put('/api/v1/artifacts'),
      405,
      'PUT is not allowed at /api/v1/artifacts; use GET, HEAD, POST',
    ],
    ['an unknown thing', () => app.http.get('/api/v1/agents/nobody/history-summary'), 404, 'Agent not found: nobody'],
    [
      'a path that does not decode',
      () => app.http.get('/api/v1/correlations/%FF/status'),
      400,
      'The path is not valid percent-encoded UTF-8; encode a literal % as %25',
    ],
    ['no body', () => app.http.post('/api/v1/artifacts'), 400, 'The body must be a JSON object'],
    [
      'several bad fields',
      () => post('/api/v1/artifacts/sync', { type: 1, timeout: 301 }),
      400,
      'timeout: must not be greater than 300; type: must be a string',
    ],
    ['nesting beyond 64 levels', () => publish(NESTED), 400, 'The body is nested deeper than 64 levels'],
    ['another content type', () => publish('n=1').type('form'), 415, NO_JSON],
    ['a content type that is missing', () => publish('{}').unset('Content-Type'), 415, NO_JSON],
    [
      'too large a body',
      () => publish({ ...ORDER, text: 'x'.repeat(2_000) }),
      413,
      'The body is larger than 2000 bytes',
    ],
    [
      'too large a query',
      () => app.http.get(`/api/v1/artifacts?tag=${'x'.repeat(20_000)}`),
      431,
      'The path, query and headers are larger than 16 KiB together',
    ],
    [
      'a closed correlation',
      () => publishIntoClosed('/api/v1/artifacts', 'c1'),
      409,
      'Correlation c1 has ended and takes no more artifacts; publish into another one',
    ],
    [
      'a closed correlation, publishing synchronously',
      () => publishIntoClosed('/api/v1/artifacts/sync', 'c2'),
      409,
      'Correlation c2 has ended and takes no more artifacts; publish into another one',
    ],
    [
      'a host that is not allowed',
      () => app.http.get('/health').set('Host', 'evil.test'),
      403,
      'Host evil.test is not allowed; add it to allowed_hosts',
    ],
    [
      'an origin that is not listed',
      () => publish(ORDER).set('Origin', 'https://evil.test'),
      403,
      'Requests from Origin https://evil.test are not allowed; add the origin to cors_origins',
    ],
  ])("%s is answered with a sentence and the request's id", async (_case, ask, expected, detail) => {
    const { status: answered, body, headers } = await ask();
    expect([answered, body]).toEqual([expected, { detail }]);
    expect(headers['x-request-id']).toMatch(UUID);
    expect(headers['content-type']).toMatch(/^application\/json/);
  });

  it('a listed host and a listed origin are served', async () => {
    await app.http.get('/health').set('Host', 'desk.test').expect(200);
    await publish(ORDER)
      .set('Origin', 'https://app.test')
      .expect(200)
      .expect('Access-Control-Allow-Origin', 'https://app.test');
  });

  it('a request that is not HTTP is answered in the same way', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1').end('nonsense\r\n\r\n');
    const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 [^]*X-Request-ID: [0-9a-f-]{36}\r\n[^]*\{"detail":"The request is not valid HTTP, [^"]*"\}$/,
    );
  });

  it('a request that is not HTTP leaves no connection open, even if its other end does', async () => {
    const server = app.app.getHttpServer() as Server;
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.write('nonsense\r\n\r\n');
    await socket.toArray();
    await eventually('the service has closed it', async () => (await connections()) === 0);
    socket.destroy();
  });

  it.each(['/api/v1/artifacts', '/api/v1/artifacts/sync'])(
    'POST %s returns its correlation, given or generated',
    async (path) => {
      const made = await post(path, ORDER).expect(200);
      expect(made.headers['x-correlation-id']).toMatch(UUID);
      expect((await status(made.headers['x-correlation-id'] as string)).body).toMatchObject({
        artifact_count: expect.any(Number) as number,
      });
      const given = await post(path, ORDER).set('X-Correlation-ID', 'given').expect(200);
      expect(given.headers['x-correlation-id']).toBe('given');
      for (const { body, headers } of [made, given]) {
        if (path.endsWith('sync')) expect(body).toMatchObject({ correlation_id: headers['x-correlation-id'] });
      }
    },
  );

  it.each(['a/b', 'a?b#c', '100%', '%2F', '~!@$&*()+,;=:', '<script>', `"'\\`, '__proto__', 'c'.repeat(200)])(
    'the correlation %.20s is found under its id',
    async (correlation) => {
      await post('/api/v1/artifacts/sync', ORDER).set('X-Correlation-ID', correlation).expect(200);
      expect((await status(correlation)).body).toMatchObject({
        correlation_id: correlation,
        state: 'completed',
        artifact_count: 2,
      });
      const { body } = await app.http.get('/api/v1/artifacts').query({ correlation_id: correlation }).expect(200);
      expect(body).toMatchObject({
        items: [{ type: 'Order', correlation_id: correlation }, { type: 'Echo' }],
        pagination: { total: 2 },
      });
    },
  );
});

/**
 * Uses the application, its database and HTTP. The test closes the database connections; on SQLite, only the one for
 * reading.
 */
describe('a database that cannot be read', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp();
    await (TEST_DATABASE === 'postgres'
      ? app.app.get(Database, { strict: false }).close()
      : app.app.get(UnitOfWork, { strict: false }).reader.destroy());
  });

  afterAll(() => app.close());

  it.each(['/health', '/health/ready'])('turns %s to 503 with the reason', async (path) => {
    const { status, body } = await app.http.get(path);
    expect([status, body]).toEqual([
      503,
      expect.objectContaining({
        status: 'error',
        error: { database: expect.objectContaining({ status: 'down' }) as object },
      }),
    ]);
  });

  it('does not affect /health/live', async () => {
    await app.http.get('/health/live').expect(200);
  });

  it('causes a 500 that names the request, which is logged, without internal details', async () => {
    const { status, body, headers } = await app.http.get('/api/v1/artifacts');
    const id = headers['x-request-id'] as string;
    expect([status, body]).toEqual([500, { detail: `Internal error; see request id ${id} in the service's log` }]);
    expect(app.logLines).toContainEqual(
      expect.objectContaining({
        level: 50,
        request_id: id,
        err: expect.objectContaining({ stack: expect.any(String) as string }) as object,
      }),
    );
  });
});
