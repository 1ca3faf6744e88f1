// Uses the application, its database and HTTP: lists in JSON as they are sent, spooled, checked and stored.
import { readdir, readlink } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { UploadSpace } from '../../src/features/batches/import/upload-space.js';
import { eventually } from '../support/eventually.js';
import { ImportApp, inputsOf } from './import-app.js';

const MIB = 1_024 * 1_024;
const NOTHING = { batches: 0, batch_rows: 0, batch_keys: 0 };

let taken: ImportApp;
beforeAll(
  async () => void (taken = await ImportApp.start({ memoryBudgetBytes: 32 * MIB, uploadSpaceBytes: 64 * MIB })),
);
afterAll(() => taken.close());

const budget = (): MemoryBudget => taken.app.app.get(MemoryBudget, { strict: false });
const space = (): UploadSpace => taken.app.app.get(UploadSpace, { strict: false });

interface Answer {
  status: number;
  body: { batch_id?: string; total_items?: number; detail?: string };
  headers: Headers;
}

async function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${taken.app.url}/run/batch`, {
    method: 'POST',
    body: body as never,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
}

const open = async (): Promise<number> => {
  const files = await Promise.all(
    (await readdir('/proc/self/fd')).map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')),
  );
  return files.filter((file) => file.includes('starling-upload-')).length;
};

/** Waits until neither memory nor disk is reserved for an answered request. */
const nothingIsReserved = (): Promise<void> =>
  eventually(
    'nothing is reserved',
    async () => budget().usedBytes === 0 && space().usedBytes === 0 && (await open()) === 0,
  );

afterEach(nothingIsReserved);

const listOf = (items: string, rest = '"agent_name":"greeter"'): string => `{${rest},"batch_inputs":[${items}]}`;

it('refuses a list of 32 MiB of {}, within a budget that its value exceeds twenty times', async () => {
  const body = `{"agent_name":"greeter","batch_inputs":[${'{},'.repeat(11_000_000)}{}]}`;
  const { status, body: answer } = await post(body);
  expect([status, answer]).toEqual([
    400,
    { detail: 'batch_inputs: must not have more than 100000 items; send several batches, or upload a CSV file' },
  ]);
  expect((await post(gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(413);
  expect(await taken.held()).toEqual(NOTHING);
});

it.each([
  ['an item that is not JSON', listOf('{},{"a":},{}'), 400, /^The body is not valid JSON: batch_inputs\[1\]: /],
  ['a comma too many', listOf('{},'), 400, /^The body is not valid JSON: batch_inputs: item 1 is missing$/],
  [
    'a comma too few',
    listOf('{} {}'),
    400,
    /^The body is not valid JSON: batch_inputs: a comma is missing after item 0$/,
  ],
  ['no end', listOf('{}').slice(0, -2), 400, /^The body is not valid JSON: batch_inputs: its end is missing$/],
  ['something wrong behind the list', `${listOf('{}').slice(0, -1)},}`, 400, /^The body is not valid JSON: /],
  [
    'an item of broken UTF-8',
    Buffer.concat([
      Buffer.from('{"agent_name":"greeter","batch_inputs":[{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}]}'),
    ]),
    400,
    /^The body is not valid UTF-8$/,
  ],
  [
    'a deep item',
    listOf(`${'{"a":'.repeat(62)}{}${'}'.repeat(62)}`),
    400,
    /^The body is nested deeper than 64 levels$/,
  ],
  [
    'a whole number that a double rounds',
    listOf('{"a":-12345678901234567890}'),
    400,
    /whole number -12345678901234567890, /,
  ],
  ['a number that no double holds', listOf('{"a":1e999}'), 400, /too large for a double$/],
  [
    'a last item that is not an object',
    listOf(`${'{},'.repeat(50_000)}1`),
    400,
    /^batch_inputs\[50000\]: must be an object$/,
  ],
  [
    'a last item without the row key',
    listOf(`${'{"id":1},'.repeat(50_000)}{}`, '"agent_name":"greeter","row_key":"id"'),
    400,
    /^row_key: batch_inputs\[50000\] has no key "id"$/,
  ],
  [
    'large static inputs',
    listOf('{}', `"agent_name":"greeter","static_inputs":{"a":"${'x'.repeat(65_536)}"}`),
    400,
    /^static_inputs: must not be larger than 64 KiB/,
  ],
  [
    'one item too many',
    listOf(`${'{},'.repeat(100_000)}{}`),
    400,
    /^batch_inputs: must not have more than 100000 items/,
  ],
  ['a list of batches', '[{"agent_name":"greeter"}]', 400, /^The body must be a JSON object$/],
  ['nothing', '  ', 400, /^The body is not valid JSON: /],
  ['a byte-order mark', `\ufeff${listOf('{}')}`, 400, /byte-order mark/],
])('refuses a list with %s and stores nothing', async (_what, body, status, detail) => {
  const answer = await post(body);
  expect([answer.status, answer.body]).toEqual([status, { detail: expect.stringMatching(detail) }]);
  expect(await taken.held()).toEqual(NOTHING);
});

it('stores a whole list before or after the other fields, compressed or not, 62 levels deep', async () => {
  const items = Array.from({ length: 5_000 }, (_, n) => ({ n, text: `caf\u00e9 \u{1f426} ${n}`, 'a"]},': [{}, [n]] }));
  const json = JSON.stringify(items);
  const bodies = [
    `{"batch_inputs":${json},"agent_name":"greeter"}`,
    `{"agent_name":"greeter","batch\\u005finputs" : ${json}}`,
    `{"batch_inputs":[{}],"agent_name":"greeter","batch_inputs":${json}}`,
  ];
  for (const body of bodies) {
    for (const answer of [await post(body), await post(gzipSync(body), { 'content-encoding': 'gzip' })]) {
      expect([answer.status, answer.body.total_items]).toEqual([200, 5_000]);
      expect(inputsOf(await taken.rows(answer.body.batch_id!))).toEqual(items);
    }
  }
  expect((await post(listOf(`${'{"a":'.repeat(61)}{}${'}'.repeat(61)}`))).status).toBe(200);
  expect((await post(listOf(`${'{},'.repeat(99_999)}{}`))).body.total_items).toBe(100_000);
});

it('answers an equal list the same under an idempotency key, and marks the answer for another list', async () => {
  const send = (items: string) => post(listOf(items), { 'x-idempotency-key': 'list-1' });
  const first = await send('{"a":1,"b":[2]},{"c":3}');
  expect([first.status, first.body.total_items]).toEqual([200, 2]);
  const same = await send('{"b": [2.0], "a": 1},\n{"c":3}');
  expect([same.headers.get('x-idempotency-replayed'), same.headers.get('x-idempotency-mismatch'), same.body]).toEqual([
    'true',
    null,
    first.body,
  ]);
  const other = await send('{"a":1,"b":[2]},{"c":4}');
  expect([other.headers.get('x-idempotency-mismatch'), other.body]).toEqual(['true', first.body]);
});

it('answers 503 when temporary files reach their limit, which leaves room for lists', async () => {
  const held = space().reserve(56 * MIB);
  const form = new FormData();
  form.set('request', '{"agent_name":"greeter"}');
  form.set('file', new Blob([`a\n${'x\n'.repeat(20 * MIB)}`]), 'a.csv');
  const refused = await fetch(`${taken.app.url}/run/batch`, { method: 'POST', body: form });
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    503,
    '1',
    { detail: 'The service has no space for this upload now; try again later' },
  ]);
  const list = listOf(Array.from({ length: 20 }, () => `{"a":"${'x'.repeat(10_000)}"}`).join());
  expect((await post(list)).status).toBe(200);
  held.release();
});
