// Uses the edge over HTTP before a sample controller: which hosts and origins are served, and the headers for browsers.
import request from 'supertest';

import { type SampleApp, startSampleApp } from './sample-app.js';

let local: SampleApp;
let open: SampleApp;
beforeAll(async () => {
  local = await startSampleApp({ allowedHosts: ['starling.test', '10.1.2.3:8344'], corsOrigins: ['https://app.test'] });
  open = await startSampleApp({ host: '0.0.0.0' });
});
afterAll(async () => {
  await local.app.close();
  await open.app.close();
});

const get = (sample: SampleApp, headers: Record<string, string>) =>
  request(sample.app.getHttpServer()).get('/items/7').set(headers);

it.each([
  'localhost',
  'localhost:8344',
  '127.0.0.1:8344',
  '127.1.2.3',
  '[::1]:8344',
  'starling.test',
  'Starling.Test:80',
  '10.1.2.3:8344',
])('Host %s is served while bound to loopback', async (host) => void (await get(local, { Host: host }).expect(200)));

it.each([
  'evil.test',
  'evil.test:8344',
  'localhost.evil.test',
  '127.0.0.1.evil.test',
  '192.168.0.7',
  '10.1.2.3',
  '10.1.2.3:80',
])('Host %s is refused while bound to loopback', async (host) => {
  await get(local, { Host: host }).expect(403, { detail: `Host ${host} is not allowed; add it to allowed_hosts` });
  await get(open, { Host: host }).expect(200);
});

it('a listed origin gets the CORS headers', async () => {
  const answer = await get(local, { Origin: 'https://app.test' }).expect(200);
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': 'https://app.test', vary: 'Origin' });
  expect(answer.headers['access-control-expose-headers']).toContain('X-Correlation-ID');
});

it('a listed origin may send a preflight request before it publishes', async () => {
  const answer = await request(local.app.getHttpServer())
    .options('/echo')
    .set({
      Origin: 'https://app.test',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type',
    })
    .expect(204);
  expect(answer.headers['access-control-allow-methods']).toContain('POST');
  expect(answer.headers['access-control-allow-headers']).toContain('Content-Type');
  // MCP clients send these.
  expect(answer.headers['access-control-allow-headers']).toContain('Mcp-Protocol-Version');
});

it.each([
  ['another origin', { Origin: 'https://evil.test' }],
  ['an opaque origin', { Origin: 'null' }],
  ['the image of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
])('%s is refused, without CORS headers', async (_name, headers) => {
  const answer = await get(local, headers).expect(403);
  expect(answer.body).toEqual({ detail: expect.stringContaining('cors_origins') });
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

it.each([
  ['its own page', { Host: 'localhost:8344', Origin: 'http://localhost:8344' }],
  ['its own page behind a proxy with TLS', { Host: 'starling.test', Origin: 'https://starling.test' }],
  ['a link from another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }],
  ['a client other than a browser', {}],
])('%s is served', async (_name, headers) => void (await get(local, headers).expect(200)));

it('no page may run a script of another origin or an inline one', async () => {
  for (const path of ['/items/7', '/nope', '/docs/x', '/redoc']) {
    const { headers } = await request(local.app.getHttpServer()).get(path);
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("script-src 'self';");
    expect(policy.includes("style-src 'self' 'unsafe-inline'")).toBe(/docs/.test(path) || /redoc/.test(path));
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  }
});

it.each([
  ['that omits its origin', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'cross-site' }, 403],
  ['that says that the user started it', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'none' }, 403],
  [
    'of a page of this server',
    {
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Site': 'same-origin',
      Host: 'localhost:8344',
      Origin: 'http://localhost:8344',
    },
    200,
  ],
  ['of a program', {}, 200],
])('a POST %s answers %d', async (_name, headers, status) => {
  await request(local.app.getHttpServer())
    .post('/echo')
    .set(headers as Record<string, string>)
    .send({ type: 'A' })
    .expect(status);
});

it('a followed link is served', async () =>
  void (await get(local, { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'cross-site' }).expect(200)));
