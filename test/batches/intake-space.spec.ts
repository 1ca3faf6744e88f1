// Real: the application, its database, HTTP, multipart bodies, temporary files.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { UploadSpace } from '../../src/batches/intake/upload-space.js';
import { eventually } from '../support/eventually.js';
import { IntakeApp } from './intake-app.js';

const MIB = 1_024 * 1_024;
const SPACE = 8 * MIB;

let taken: IntakeApp;
beforeAll(async () => void (taken = await IntakeApp.start({ uploadSpaceBytes: SPACE })));
afterAll(() => taken.close());

const usedBytes = (): number => taken.app.app.get(UploadSpace, { strict: false }).usedBytes;

const HEAD = ['--edge', 'Content-Disposition: form-data; name="request"', '', JSON.stringify({ agent_name: 'greeter' }), '--edge', 'Content-Disposition: form-data; name="file"; filename="a.csv"', 'Content-Type: text/csv', '', 'note', ''].join('\r\n');
/** Rows of 64 KiB. */
const rows = (bytes: number): string => `${'x'.repeat(64 * 1_024 - 1)}\n`.repeat(bytes / (64 * 1_024));

function upload(): ClientRequest {
  const request = httpRequest(`${taken.app.url}/run/batch`, { method: 'POST', agent: false, headers: { 'Content-Type': 'multipart/form-data; boundary=edge' } });
  request.on('error', () => undefined).write(HEAD);
  return request;
}

const answered = async (request: ClientRequest): Promise<IncomingMessage> => ((await once(request, 'response')) as [IncomingMessage])[0];

it('an unfinished upload gives way to one that needs its space', async () => {
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
}, 60_000);

it('one that would not fit alone is refused itself', async () => {
  const large = upload();
  const refusal = answered(large);
  large.write(rows(9 * MIB));
  expect((await refusal).statusCode).toBe(503);
  large.destroy();
  await eventually('all space is free', () => usedBytes() === 0);
});

const LARGEST = { note: 'x'.repeat(64 * 1_024 - '{"note":""}'.length) };
const MOST_ITEMS = 1_024 ** 3 / (64 * 1_024);
const REFUSAL = `static_inputs: of 65536 bytes, ${MOST_ITEMS} items can get them, 1 GiB in all; make them smaller, or send several batches`;

it('takes no more items than all of which can store static_inputs', async () => {
  const before = await taken.held();
  const items = Array.from({ length: MOST_ITEMS + 1 }, () => ({}));
  await expect(taken.list(items, { staticInputs: LARGEST })).rejects.toThrow(REFUSAL);
  await expect(taken.csv(`age\n${'42\n'.repeat(items.length)}`, { staticInputs: LARGEST })).rejects.toThrow(REFUSAL);
  expect(await taken.held()).toEqual(before);
}, 60_000);
