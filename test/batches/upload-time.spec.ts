// Uses the application and HTTP, with a clock that the test moves: how long the body of POST /run/batch may take.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ImportApp } from './import-app.js';

const clock = new ManualClock();
let taken: ImportApp;
// A clock that jumps over an hour measures no rates.
beforeAll(async () => void (taken = await ImportApp.start({ minTransferRateBytes: 0 }, clock)));
afterAll(() => taken.close());

const usedBytes = (): number => taken.app.app.get(MemoryBudget, { strict: false }).usedBytes;

/** Begins a request whose body never ends, and resolves when the service has read the beginning of the body. */
async function begin(contentType: string, beginning: string): Promise<{ socket: Socket; answer: () => string }> {
  let received = '';
  const socket = connect(Number(new URL(taken.app.url).port), '127.0.0.1').on('error', () => undefined);
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(
    `POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\nContent-Length: 1000000\r\n\r\n${beginning}`,
  );
  await eventually('its beginning has arrived', () => usedBytes() > 0);
  return { socket, answer: () => received };
}

it.each([
  [
    'an upload may take an hour',
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n${'x'.repeat(100_000)}`,
    3_600,
  ],
  ['a list of inputs may take a minute', 'application/json', ' '.repeat(100_000), 60],
])('%s', async (_what, contentType, beginning, seconds) => {
  const { socket, answer } = await begin(contentType, beginning);
  clock.advance((seconds - 1) * 1_000);
  expect((await fetch(`${taken.app.url}/health/live`)).status).toBe(200);
  expect([answer(), socket.destroyed]).toEqual(['', false]);
  clock.advance(1_000);
  await once(socket, 'close');
  expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer()).toContain(`The body did not arrive within ${seconds} s`);
  await eventually('its memory is free', () => usedBytes() === 0);
});
