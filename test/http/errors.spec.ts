// Uses the edge over HTTP before a sample controller: errors as clients and the log see them.
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';

import request from 'supertest';

import { eventually } from '../support/eventually.js';
import { type SampleApp, startSampleApp } from './sample-app.js';

const NOT_DECODABLE = 'The path is not valid percent-encoded UTF-8; encode a literal % as %25';

let sample: SampleApp;
beforeAll(async () => void (sample = await startSampleApp()));
afterAll(() => sample.app.close());

const get = (path: string) => request(sample.app.getHttpServer()).get(path);

/** Returns the log entries of a request, whose own line comes last. */
async function linesOf({ headers }: request.Response): Promise<Record<string, unknown>[]> {
  const lines = () => sample.logLines.filter((line) => line.request_id === headers['x-request-id']);
  await eventually('its line is in the log', () => lines().some(({ msg }) => msg === 'request'));
  return lines();
}

/** Returns the raw response to a request as it is written. */
async function send(text: string): Promise<string> {
  const socket = connect(Number(new URL(await sample.app.getUrl()).port), '127.0.0.1');
  socket.end(text);
  return String(await buffer(socket));
}

it.each([
  ['invalid', 400],
  ['forbidden', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['agent_failed', 500],
  ['unavailable', 503],
])('the domain error %s answers %d with its sentence', async (code, status) => {
  await get(`/errors/${code}`)
    .expect(status, { detail: `It is ${code}` })
    .expect('X-Request-ID', /^[0-9a-f-]{36}$/);
});

it('a 503 says when to retry', async () => {
  await get('/errors/unavailable').expect('Retry-After', '7');
});

it("a 503 by the service's own decision has only its request's line in the log", async () => {
  expect(await linesOf(await get('/errors/unavailable'))).toEqual([
    expect.objectContaining({ level: 30, msg: 'request', status: 503 }),
  ]);
});

it('a 503 with another cause has an additional line with the cause, which the answer does not reveal', async () => {
  const answer = await get('/errors/full').expect(503, { detail: 'The disk is full' }).expect('Retry-After', '1');
  expect(await linesOf(answer)).toEqual([
    expect.objectContaining({
      level: 40,
      msg: 'The disk is full',
      err: expect.objectContaining({ message: 'The disk is full: no space inside' }),
    }),
    expect.objectContaining({ level: 30, msg: 'request', status: 503 }),
  ]);
});

it('an unexpected error names the request and no internal details, which are logged', async () => {
  const { body, headers, status } = await get('/errors/bug');
  const id = headers['x-request-id'] as string;
  expect(status).toBe(500);
  expect(Object.keys(body as object)).toEqual(['detail']);
  expect(body.detail).toContain(id);
  expect(JSON.stringify(body)).not.toContain('secret inside');
  const line = sample.logLines.find((entry) => entry.request_id === id && entry.msg === 'unexpected error');
  expect(line).toMatchObject({ err: { message: 'secret inside', stack: expect.stringContaining('sample-app') } });
});

it.each([
  ['get', '/nope', 404, 'No route for GET /nope; /docs lists them all'],
  ['get', '/nope?token=1', 404, 'No route for GET /nope; /docs lists them all'],
  ['get', '/items/%FF', 400, NOT_DECODABLE],
  ['get', '/items/%ZZ?a=b', 400, NOT_DECODABLE],
  ['get', '/%', 400, NOT_DECODABLE],
] as const)('%s %s answers %d', async (method, path, status, detail) => {
  await request(sample.app.getHttpServer())[method](path).expect(status, { detail }).expect('X-Request-ID', /./);
});

it.each([
  ['DELETE', '/echo', 'POST'],
  ['TRACE', '/echo', 'POST'],
  ['GET', '/echo', 'POST'],
  ['PUT', '/items/7?a=b', 'GET, HEAD'],
  ['POST', '/items/7', 'GET, HEAD'],
  ['PROPFIND', '/query', 'GET, HEAD'],
])('%s %s is a 405 that lists the methods', async (method, path, allow) => {
  const answer = await send(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
  expect(answer).toContain(`\r\nAllow: ${allow}\r\n`);
  expect(answer).toMatch(/\r\nX-Request-ID: /);
  expect(answer).toContain(`{"detail":"${method} is not allowed at ${path.split('?')[0]}; use ${allow}"}`);
});

it('HEAD is a 405 where only POST is answered', async () => {
  const answer = await send('HEAD /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
  expect(answer).toContain('\r\nAllow: POST\r\n');
});

it.each([
  ['TRACE', '/nope'],
  ['DELETE', '/nope'],
  ['OPTIONS', '/nope'],
])('%s %s is a 404, because the path is unknown', async (method, path) => {
  expect(await send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).toContain(
    `{"detail":"No route for ${method} ${path}; /docs lists them all"}`,
  );
});

it.each([
  ['/echo', 'POST'],
  ['/items/7?a=b', 'GET, HEAD'],
  ['*', 'GET, HEAD, POST'],
])('OPTIONS %s lists the methods', async (path, allow) => {
  const answer = await send(`OPTIONS ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 204 /);
  expect(answer).toContain(`\r\nAllow: ${allow}\r\n`);
  expect(answer).toMatch(/\r\nX-Request-ID: /);
});

it.each(['FOO', 'get', 'GETS', 'M-SEARCHES'])(
  '%s is a 400 that says that the method may be unknown',
  async (method) => {
    const answer = await send(`${method} /items/7 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nX-Request-ID: [0-9a-f-]{36}\r\n/);
    expect(answer).toContain(
      '{"detail":"The request is not valid HTTP, or its method is unknown, such as FOO or get"}',
    );
  },
);

it('CONNECT is a 405: this server is not a proxy', async () => {
  const answer = await send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toContain('{"detail":"CONNECT is not allowed; this server is not a proxy"}');
});

it('two Host headers are a 400', async () => {
  const answer = await send('GET /items/7 HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('{"detail":"The request has more than one Host header"}');
});

it('HEAD is answered if GET is', async () =>
  void (await request(sample.app.getHttpServer()).head('/items/7').expect(200)));

it('a path that decodes is served, whatever its query', async () => {
  await get('/items/100%25?%ZZ').expect(200, { id: '100%' });
});

it('every request has a unique id and one line in the log, without its query', async () => {
  const first = await get('/items/7?secret=1').set('X-Request-ID', 'mine');
  const second = await get('/items/7');
  expect(first.headers['x-request-id']).not.toBe('mine');
  expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
  expect(await linesOf(first)).toEqual([
    expect.objectContaining({ level: 30, method: 'GET', path: '/items/7', status: 200, ms: expect.any(Number) }),
  ]);
  expect(JSON.stringify(sample.logLines)).not.toContain('secret=1');
});

/** Returns the server's response to bytes that no HTTP client would send. */
async function sendRaw(bytes: string): Promise<{ head: string; body: string }> {
  const { port } = sample.app.getHttpServer().address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.end(bytes);
  const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
  const [head, body] = answer.split('\r\n\r\n') as [string, string];
  return { head, body };
}

it.each([
  ['garbage', 'garbage\r\n\r\n', 400],
  ['another protocol', 'hello to HTTP/1.1 users\r\n\r\n', 400],
  ['headers larger than Node takes', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  ['no Host header', 'GET /items/7 HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an expectation', 'GET /items/7 HTTP/1.1\r\nHost: localhost\r\nExpect: magic\r\nConnection: close\r\n\r\n', 417],
])('%s gets the same kind of answer', async (_name, bytes, status) => {
  const { head, body } = await sendRaw(bytes);
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(head).toMatch(/X-Request-ID: [0-9a-f-]{36}/);
  expect(JSON.parse(body)).toEqual({ detail: expect.any(String) });
});

it('a client that disconnects during its body is not an error of the server', async () => {
  const { port } = sample.app.getHttpServer().address() as { port: number };
  const before = sample.logLines.length;
  const socket = connect(port, '127.0.0.1');
  const head =
    'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"ty';
  await new Promise((resolve) => socket.write(head, resolve));
  socket.destroy();
  // The line of an earlier test's request may come later.
  const lines = () => sample.logLines.slice(before).filter(({ path }) => path === '/echo');
  await eventually('its line is in the log', () => lines().length > 0);
  expect(lines()).toEqual([expect.objectContaining({ level: 30, path: '/echo', aborted: true })]);
});
