// Uses the application, its database and HTTP, with multipart bodies and temporary files.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';

import { UploadSpace } from '../../src/features/batches/import/upload-space.js';
import { eventually } from '../support/eventually.js';
import { ImportApp } from './import-app.js';

const MIB = 1_024 * 1_024;
const SPACE = 8 * MIB;

let taken: ImportApp;
beforeAll(async () => void (taken = await ImportApp.start({ uploadSpaceBytes: SPACE })));
afterAll(() => taken.close());

const usedBytes = (): number => taken.app.app.get(UploadSpace, { strict: false }).usedBytes;

const HEAD = [
  '--edge',
  'Content-Disposition: form-data; name="request"',
  '',
  JSON.stringify({ agent_name: 'greeter' }),
  '--edge',
  'Content-Disposition: form-data; name="file"; filename="a.csv"',
  'Content-Type: text/csv',
  '',
  'note',
  '',
].join('\r\n');
/** Rows of 64 KiB. */
const rows = (bytes: number): string => `${'x'.repeat(64 * 1_024 - 1)}\n`.repeat(bytes / (64 * 1_024));

function upload(): ClientRequest {
  const request = httpRequest(`${taken.app.url}/run/batch`, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'multipart/form-data; boundary=edge' },
  });
  request.on('error', () => undefined).write(HEAD);
  return request;
}

const answered = async (request: ClientRequest): Promise<IncomingMessage> =>
  ((await once(request, 'response')) as [IncomingMessage])[0];

it('an unfinished upload gives way to an upload that needs its space', async () => {
  const unfinished = upload();
  const refusal = answered(unfinished);
  unfinished.write(rows(5 * MIB));
  await eventually('it has taken its space', () => usedBytes() > 4 * MIB);

  const whole = upload();
  const acceptance = answered(whole);
  whole.end(`${rows(6 * MIB)}\r\n--edge--\r\n`);
  const { statusCode, headers } = await refusal;
  expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
  expect((await acceptance).statusCode).toBe(200);
  unfinished.destroy();
  await eventually('all space is free', () => usedBytes() === 0);
});

it('an upload that would not fit alone is refused itself', async () => {
  const large = upload();
  const refusal = answered(large);
  large.write(rows(9 * MIB));
  expect((await refusal).statusCode).toBe(503);
  large.destroy();
  await eventually('all space is free', () => usedBytes() === 0);
});

const LARGEST = { note: 'x'.repeat(64 * 1_024 - '{"note":""}'.length) };
/** The number of rows that store 64 MiB. */
const MOST_ITEMS = (64 * MIB) / (64 * 1_024);
const TOO_MUCH =
  /^(file|batch_inputs): the rows, with static_inputs and input names, would store more than \d+ MiB; make these smaller, or send several batches$/;

const itemsOf = (count: number, item: object = {}): object[] => Array.from({ length: count }, () => item);

it.each<[what: string, takeIn: () => Promise<unknown>]>([
  ['a list with static inputs', () => taken.list(itemsOf(MOST_ITEMS + 10), { staticInputs: LARGEST })],
  ['a CSV with static inputs', () => taken.csv(`age\n${'42\n'.repeat(MOST_ITEMS + 10)}`, { staticInputs: LARGEST })],
  [
    'a CSV whose mapping has a long name',
    () => taken.csv(`a\n${'1\n'.repeat(2_000)}`, { inputMapping: { a: 'n'.repeat(65_000) } }),
  ],
  [
    'a list whose mapping has a long name',
    () => taken.list(itemsOf(80, { a: 1 }), { inputMapping: { a: 'n'.repeat(1_000_000) } }),
  ],
  [
    'a CSV of empty cells under long names',
    () =>
      taken.csv(
        `${Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(60, 'c')).join()}\n${`${','.repeat(999)}\n`.repeat(2_500)}`,
      ),
  ],
])('refuses a body that stores many times its size: %s', async (_what, takeIn) => {
  const before = await taken.held();
  await expect(takeIn()).rejects.toThrow(TOO_MUCH);
  expect(await taken.held()).toEqual(before);
});

it('accepts 100,000 items with 500 bytes of static inputs', async () => {
  const rows = await taken.list(itemsOf(100_000), { staticInputs: { note: 'x'.repeat(500 - '{"note":""}'.length) } });
  expect(rows).toHaveLength(100_000);
});

it('accepts a wide CSV whose cells are nearly all empty', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(20, 'c')).join();
  expect(await taken.csv(`${names}\n${`1${','.repeat(199)}\n`.repeat(5_000)}`)).toHaveLength(5_000);
});
