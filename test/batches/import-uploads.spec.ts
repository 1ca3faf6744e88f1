// Uses the application, its database and HTTP, with multipart bodies as a browser and as a broken client send them.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { usedMemory } from '../support/heap.js';
import { ImportApp, inputsOf } from './import-app.js';

let taken: ImportApp;
beforeEach(async () => void (taken = await ImportApp.start()));
afterEach(() => taken.close());

const CSV = 'age,note\n42,"a, b"\n';
const MIB = 1_024 * 1_024;
const NOTHING = { batches: 0, batch_rows: 0, batch_keys: 0 };

interface Answer {
  status: number;
  body: { batch_id?: string; total_items?: number; detail?: string };
  headers: Headers;
}

async function post(body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${taken.app.url}/run/batch`, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
}

function form(
  file: string | Buffer | null,
  request: string | Blob | null = JSON.stringify({ agent_name: 'greeter' }),
): FormData {
  const data = new FormData();
  if (request !== null) data.set('request', request as string);
  if (file !== null) data.set('file', new Blob([file as never]), 'messages.csv');
  return data;
}

/** Returns the temporary files that this process still has open, as the operating system reports them. */
async function openUploads(): Promise<number> {
  const handles = await readdir('/proc/self/fd');
  const files = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')));
  return files.filter((file) => file.includes('starling-upload-')).length;
}

const noUploadIsLeft = (): Promise<void> =>
  eventually('no upload is left', async () => {
    const names = (await readdir(tmpdir())).filter((name) => name.startsWith('starling-upload-'));
    return names.length === 0 && (await openUploads()) === 0;
  });

it('imports an uploaded CSV as it imports one by its path, and keeps no file', async () => {
  const request = JSON.stringify({
    agent_name: 'greeter',
    input_mapping: { age: 'age' },
    static_inputs: { note: 'from all' },
  });
  const { status, body } = await post(form(CSV, request));
  expect([status, body]).toMatchObject([200, { total_items: 1 }]);
  expect(inputsOf(await taken.rows(body.batch_id!))).toEqual([{ age: 42 }]);
  await noUploadIsLeft();
});

it('accepts the request before or after the file, and as a part with its own type', async () => {
  const after = new FormData();
  after.set('file', new Blob([CSV]), 'a.csv');
  after.set('request', JSON.stringify({ agent_name: 'greeter' }));
  expect((await post(after)).status).toBe(200);
  const typed = new Blob([JSON.stringify({ agent_name: 'greeter' })], { type: 'application/json' });
  expect((await post(form(CSV, typed))).status).toBe(200);
});

it('imports a whole file of many chunks', async () => {
  const lines = Array.from({ length: 60_000 }, (_, n) => `${n},row ${n}\n`);
  const { body } = await post(form(`age,note\n${lines.join('')}`));
  const rows = await taken.rows(body.batch_id!);
  const sum = (texts: string[]): string => createHash('sha256').update(texts.join('\n')).digest('hex');
  expect(sum(rows.map(({ inputs }) => inputs))).toBe(
    sum(lines.map((_, n) => JSON.stringify({ age: n, note: `row ${n}` }))),
  );
});

it.each<[what: string, body: () => FormData, status: number, detail: string]>([
  [
    'no file',
    () => form(null),
    400,
    'Send one CSV as file field `file` and everything else as JSON in the field `request`; there was no file field `file`',
  ],
  [
    'no request',
    () => form(CSV, null),
    400,
    'Send one CSV as file field `file` and everything else as JSON in the field `request`; there was no field `request`',
  ],
  ['a request that is not JSON', () => form(CSV, '{agent_name}'), 400, 'The field request is not valid JSON'],
  [
    'a request nested too deeply',
    () => form(CSV, '['.repeat(100) + ']'.repeat(100)),
    400,
    'The field request is nested deeper than 64 levels',
  ],
  ['a request that is not an object', () => form(CSV, '[]'), 400, ''],
  ['a request without an agent', () => form(CSV, '{}'), 400, 'agent_name'],
  ['an unknown agent', () => form(CSV, '{"agent_name": "nobody"}'), 404, 'Agent not found: nobody'],
  [
    'a request larger than 1 MiB',
    () => form(CSV, JSON.stringify({ agent_name: 'x'.repeat(MIB) })),
    413,
    'The field request is larger than 1 MiB',
  ],
  [
    'such a request with a type of its own',
    () => form(CSV, new Blob([' '.repeat(2 * MIB)])),
    413,
    'The field request is larger than 1 MiB',
  ],
  ['a file that is not CSV', () => form('a,b\n1,2\n3\n'), 400, 'file: line 3 has 1 field and the header 2'],
  ['an empty file', () => form(''), 400, 'file: is empty; a CSV begins with a header'],
  [
    'a path beside the file',
    () => form(CSV, '{"agent_name": "greeter", "batch_inputs": "a.csv"}'),
    400,
    'batch_inputs: must be absent when a file is uploaded',
  ],
  [
    'two files',
    () => {
      const data = form(CSV);
      data.append('file', new Blob([CSV]), 'b.csv');
      return data;
    },
    400,
    'and nothing more',
  ],
  [
    'a field of another name',
    () => {
      const data = form(CSV);
      data.set('delimiter', ';');
      return data;
    },
    400,
    'and nothing more',
  ],
])('refuses an upload with %s, and keeps nothing', async (_what, body, status, detail) => {
  const answer = await post(body());
  expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['detail']]);
  expect(answer.body.detail).toContain(detail);
  expect(await taken.held()).toEqual(NOTHING);
  await noUploadIsLeft();
});

/** Returns a form as bytes, with this content of its field `request`. */
const bytesOf = (boundary: string, request: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${CSV}\r\n--${boundary}\r\nContent-Disposition: form-data; name="request"\r\n\r\n`,
    ),
    Buffer.from(request),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);

it.each([
  ['b', 'multipart/form-data; boundary=b;'],
  ['b', 'multipart/form-data; boundary=b ; '],
  ['b', 'multipart/form-data;; boundary=b'],
  ['b', 'multipart/form-data\t; boundary=b'],
  ['b', 'Multipart/Form-Data; charset; Boundary="b";'],
  ['b=(b)', 'multipart/form-data; boundary=b=(b)'],
  ['b "b\\', 'multipart/form-data; boundary="b \\"b\\\\"'],
])('accepts a form with the boundary %s and the header %s', async (boundary, type) => {
  const { status, body } = await post(bytesOf(boundary, '{"agent_name":"greeter"}'), { 'content-type': type });
  expect([status, body]).toMatchObject([200, { total_items: 1 }]);
});

it.each(['', ';', '; boundary', '; boundary=', '; boundary=""', '; boundary = b', '; boundary="\u00fc"'])(
  'refuses a form with the header multipart/form-data%s',
  async (parameters) => {
    const answer = await post(bytesOf('b', '{}'), { 'content-type': `multipart/form-data${parameters}` });
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        detail: 'Name the boundary of the form in its header, such as Content-Type: multipart/form-data; boundary=abc',
      },
    ]);
  },
);

it.each([
  ['a field', ''],
  ['a field that names its encoding', '\r\nContent-Type: text/plain; charset=utf-8'],
  ['a part with its own type', '; filename="r"\r\nContent-Type: application/json'],
])('refuses a request that is not UTF-8, sent as %s', async (_what, headers) => {
  const body = Buffer.from(
    bytesOf('b', '{"agent_name":"greeter","static_inputs":{"note":"\u00fc"}}')
      .toString()
      .replace('name="request"', `name="request"${headers}`),
    'latin1',
  );
  const answer = await post(body, { 'content-type': 'multipart/form-data; boundary=b' });
  expect([answer.status, answer.body]).toEqual([
    400,
    { detail: 'The field request is not valid UTF-8; a character U+FFFD in it must be written as \\ufffd' },
  ]);
  expect(await taken.held()).toEqual(NOTHING);
  await noUploadIsLeft();
});

it.each<[what: string, body: string, headers: Record<string, string>, status: number, detail: string]>([
  [
    'that ends too early',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na,b',
    { 'content-type': 'multipart/form-data; boundary=b' },
    400,
    'The body is not valid multipart/form-data: it does not end with the boundary that its Content-Type names',
  ],
  [
    'that is compressed',
    'x',
    { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' },
    415,
    'Send a multipart/form-data body without Content-Encoding',
  ],
  ['of another kind', 'x', { 'content-type': 'multipart/mixed; boundary=b' }, 415, 'Send the body as JSON'],
])('refuses a body %s and keeps nothing', async (_what, body, headers, status, detail) => {
  const answer = await post(body, headers);
  expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
  expect(await taken.held()).toEqual(NOTHING);
  await noUploadIsLeft();
});

it('refuses a body with a declared size above 1 GiB before it is sent', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(1_100 * MIB) };
  const answer = await new Promise<[number, string]>((resolve, reject) => {
    const sent = httpRequest(`${taken.app.url}/run/batch`, { method: 'POST', headers }, (response) => {
      response.setEncoding('utf8').once('data', (text: string) => resolve([response.statusCode!, text]));
      response.once('end', () => sent.destroy());
    });
    sent.once('error', reject);
    sent.write('--b\r\n');
  });
  expect(answer).toEqual([413, '{"detail":"The uploaded file is larger than 1 GiB"}']);
});

it('deletes the upload of a client that disconnects', async () => {
  const sent = httpRequest(`${taken.app.url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  sent.on('error', () => {});
  sent.write(`--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'a,b\n'.repeat(100_000)}`);
  await eventually('the upload has begun', async () => (await openUploads()) === 1);
  sent.destroy();
  await noUploadIsLeft();
  expect(await taken.held()).toEqual(NOTHING);
});

it('refuses multipart bodies on other routes', async () => {
  const response = await fetch(`${taken.app.url}/run/flock`, { method: 'POST', body: form(CSV) });
  expect(response.status).toBe(415);
});

it('compares the files of uploads with the same request and idempotency key', async () => {
  const key = { 'x-idempotency-key': 'upload' };
  const first = await post(form(CSV), key);
  const same = await post(form(CSV), key);
  const other = await post(form(`${CSV}43,c\n`), key);
  expect([first, same, other].map(({ status, body }) => [status, body.batch_id])).toEqual(
    Array(3).fill([200, first.body.batch_id]),
  );
  const mismatch = (answer: Answer): string | null => answer.headers.get('x-idempotency-mismatch');
  expect([first, same, other].map(mismatch)).toEqual([null, null, 'true']);
  expect((await taken.held()).batches).toBe(1);
  await noUploadIsLeft();
});

describe('an unfinished upload', () => {
  const usedBytes = (): number => taken.app.app.get(MemoryBudget, { strict: false }).usedBytes;
  const TINY = 60_000;

  /** Begins a request to create a batch with a chunked body, and sends `text` and then `tiny` chunks of one byte. */
  async function begin(type: string, text: string, tiny: number): Promise<Socket> {
    const socket = connect(Number(new URL(taken.app.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(
      `POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`,
    );
    await new Promise((resolve) => void socket.write('1\r\nx\r\n'.repeat(tiny), resolve));
    return socket;
  }

  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const part = (disposition: string): string => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;

  it.each([
    ['a request as a file', 'name="request"; filename="r"'],
    ['a request as a plain field', 'name="request"'],
  ])('counts the memory of %s, and frees it when the client disconnects', async (_what, disposition) => {
    const before = usedMemory();
    const socket = await begin('multipart/form-data; boundary=b', part(disposition), TINY);
    await eventually('all of it but the last 16 KiB is counted', () => usedBytes() >= TINY - 16 * 1_024);
    // A buffer for each byte would take 20 MiB.
    expect(usedMemory() - before).toBeLessThan(8 * MIB);
    socket.destroy();
    await eventually('all memory is free', () => usedBytes() === 0);
    await noUploadIsLeft();
  });

  it.each([
    ['list', 'application/json', '{"agent_name":"greeter","batch_inputs":[{"a":"'],
    ['file', 'multipart/form-data; boundary=b', part('name="file"; filename="x.csv"')],
  ])('of a %s is refused if its parts are many and tiny', async (_what, type, text) => {
    const socket = await begin(type, text, 100_000);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 [^]*The body arrived in more than 100000 parts/);
    await eventually('all memory is free', () => usedBytes() === 0);
    await noUploadIsLeft();
  });

  it('is refused if there is no memory for its request', async () => {
    const budget = taken.app.app.get(MemoryBudget, { strict: false });
    const held = budget.reserve(budget.largestBytes - MIB);
    const socket = await begin('multipart/form-data; boundary=b', part('name="request"'), 0);
    const text = 'x'.repeat(900_000);
    socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1/);
    held.release();
    socket.destroy();
    await eventually('all memory is free', () => usedBytes() === 0);
  });

  it.each([
    ['gzip', gzipSync, 48],
    ['br', brotliCompressSync, 512],
  ])('counts the memory of inflating a list in %s', async (encoding, compress, kib) => {
    const list = compress(`{"agent_name":"greeter","batch_inputs":[${'{"age":1},'.repeat(20_000)}{}]}`).subarray(
      0,
      -16,
    );
    const socket = connect(Number(new URL(taken.app.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(
      `POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: ${encoding}\r\nContent-Length: 100000\r\n\r\n`,
    );
    socket.write(list);
    await eventually('it is counted', () => usedBytes() >= kib * 1_024);
    socket.destroy();
    await eventually('all memory is free', () => usedBytes() === 0);
  });
});
