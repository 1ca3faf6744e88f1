// Uses the edge over HTTP before a sample controller: how bodies arrive, and which JSON is refused before any DTO.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { type SampleApp, startSampleApp } from './sample-app.js';

const LIMIT = 10_000;
let sample: SampleApp;
let url: string;
beforeAll(async () => {
  sample = await startSampleApp({ bodyLimitBytes: LIMIT });
  url = `${await sample.app.getUrl()}/echo`;
});
afterAll(() => sample.app.close());

async function send(
  body: RequestInit['body'],
  headers: Record<string, string> = {},
): Promise<{ status: number; detail?: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    duplex: 'half',
  });
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const { detail } = (await answer.json()) as { detail?: string };
  return { status: answer.status, detail };
}

const GOOD = JSON.stringify({ type: 'A', payload: { text: 'caf\u00e9 \u{1f426}' } });

it.each([
  'application/json',
  'application/json;',
  'application/json; charset=utf-8',
  'application/json; charset=utf-8;',
  'application/json; charset=utf-8; profile=a',
  'Application/JSON;charset="UTF-8"',
])('%s is JSON', async (type) => {
  expect((await send(GOOD, { 'content-type': type })).status).toBe(200);
});

it.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=latin1',
  'application/json; charset=latin1;',
  'application/jsonp',
  'multipart/form-data',
])('%s is refused', async (type) => {
  expect(await send(GOOD, { 'content-type': type })).toEqual({
    status: 415,
    detail: 'Send the body as JSON in UTF-8, with the header Content-Type: application/json',
  });
});

it.each([
  ['gzip', gzipSync(GOOD)],
  ['deflate', deflateSync(GOOD)],
  ['br', brotliCompressSync(GOOD)],
])('%s is decompressed', async (encoding, body) => {
  expect((await send(body, { 'content-encoding': encoding })).status).toBe(200);
});

it.each([
  ['truncated gzip', gzipSync(GOOD).subarray(0, 20), 'gzip', 400, 'The body does not decompress as gzip'],
  ['a body that is not gzip', Buffer.from(GOOD), 'gzip', 400, 'The body does not decompress as gzip'],
  ['a body that is not brotli', Buffer.from(GOOD), 'br', 400, 'The body does not decompress as br'],
  [
    'an unknown encoding',
    Buffer.from(GOOD),
    'zip',
    415,
    'Content-Encoding zip is not supported; use gzip, deflate or br',
  ],
  ['a gzip bomb', gzipSync(Buffer.alloc(20_000_000, 32)), 'gzip', 413, `The body is larger than ${LIMIT} bytes`],
])('%s is refused', async (_name, body, encoding, status, detail) => {
  expect(await send(body, { 'content-encoding': encoding })).toEqual({ status, detail });
});

it('a body that is too large is refused, with or without a declared length', async () => {
  const refusal = { status: 413, detail: `The body is larger than ${LIMIT} bytes` };
  expect(await send(' '.repeat(LIMIT + 1))).toEqual(refusal);
  const chunks = new ReadableStream({
    start(controller) {
      for (let chunk = 0; chunk < 20; chunk++) controller.enqueue(Buffer.alloc(1_000, 32));
      controller.close();
    },
  });
  expect(await send(chunks)).toEqual(refusal);
  expect((await send(GOOD.padEnd(LIMIT - 20))).status).toBe(200);
});

it.each([
  ['malformed JSON', '{"type":', /^The body is not valid JSON: /],
  ['two documents', '{"type":"A"}{"type":"B"}', /^The body is not valid JSON: /],
  ['only spaces', '   ', /^The body is not valid JSON: /],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /^The body is not valid UTF-8$/],
  ['a byte-order mark', Buffer.from(`\ufeff${GOOD}`), /byte-order mark/],
  [
    'a whole number that a double rounds',
    '{"type":"A","payload":{"a":["9007199254740993",9007199254740993]}}',
    /whole number 9007199254740993, .*; send it as a string$/,
  ],
  ['a number beyond doubles', '{"type":"A","payload":{"a":[1e999]}}', /too large for a double/],
])('%s is refused', async (_name, body, detail) => {
  expect(await send(body)).toEqual({ status: 400, detail: expect.stringMatching(detail) });
});

it.each([
  '9007199254740992',
  '100000000000000000000',
  '1e20',
  '0.12345678901234567890',
  '-229021642436408480000',
  '15000000000000000000000',
  '"9007199254740993"',
  '"\\"9007199254740993"',
])('the number or text %s is accepted', async (value) => {
  expect((await send(`{"type":"A","payload":{"a":${value}}}`)).status).toBe(200);
});

it('nesting is accepted to 64 levels and refused beyond', async () => {
  const nested = (levels: number): string =>
    `{"type":"A","payload":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`;
  expect((await send(nested(64))).status).toBe(200);
  expect(await send(nested(65))).toEqual({ status: 400, detail: 'The body is nested deeper than 64 levels' });
  expect(await send('['.repeat(9_000))).toMatchObject({ status: 400 });
  expect(await send(`${'['.repeat(4_000)}${']'.repeat(4_000)}`)).toMatchObject({ status: 400 });
});

it('a body on a GET is ignored', async () => {
  const answer = await fetch(url.replace('/echo', '/items/7'), { headers: { 'content-type': 'text/plain' } });
  expect(answer.status).toBe(200);
});
