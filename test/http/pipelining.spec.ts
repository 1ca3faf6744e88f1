// Uses the edge over HTTP before a sample controller: requests that are sent before earlier ones are answered.
import { once } from 'node:events';
import { connect } from 'node:net';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { echoedTypes, type SampleApp, startSampleApp } from './sample-app.js';

let sample: SampleApp;
beforeAll(async () => {
  sample = await startSampleApp();
});
afterAll(() => sample.app.close());

const GET = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LAST = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

/** Counts the answers to one packet, until the connection closes. */
async function answersTo(requests: string, { app } = sample): Promise<number> {
  const socket = connect(Number(new URL(await app.getUrl()).port), '127.0.0.1');
  let text = '';
  socket.on('data', (part: Buffer) => (text += part.toString()));
  // The server may cut it.
  socket.on('error', () => undefined);
  socket.write(requests);
  await once(socket, 'close');
  return text.split('HTTP/1.1 ').length - 1;
}

it('16 pipelined requests are all answered', async () => {
  expect(await answersTo(GET.repeat(15) + LAST)).toBe(16);
});

it('a connection with more waiting requests is cut, and others are served', async () => {
  expect(await answersTo(GET.repeat(1_000) + LAST)).toBeLessThan(1_000);
  expect(await answersTo(LAST)).toBe(1);
});

it('a request that writes begins after the earlier ones are answered', async () => {
  const post = (type: string, text: string): string => {
    const body = JSON.stringify({ type, payload: { text } });
    return `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const before = echoedTypes.length;
  // A large body is parsed in several turns of the event loop.
  expect(await answersTo(GET + post('First', 'x'.repeat(80_000)) + post('Second', 'y') + GET + LAST)).toBe(5);
  expect(echoedTypes.slice(before)).toEqual(['First', 'Second']);
});

it('a request that waits behind another one does not begin if its connection closes', async () => {
  const before = sample.logLines.length;
  const socket = connect(Number(new URL(await sample.app.getUrl()).port), '127.0.0.1');
  const stalled =
    'POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data\r\nContent-Length: 1\r\n\r\nx';
  await new Promise((resolve) => socket.write(stalled + GET, resolve));
  socket.destroy();
  const ended = (): unknown[] => sample.logLines.slice(before).filter(({ msg }) => msg === 'request');
  await eventually('the first is logged', () => ended().length > 0);
  expect(await answersTo(LAST)).toBe(1);
  await eventually('another is logged', () => ended().length > 1);
  expect(ended()).toMatchObject([{ path: '/run/batch' }, { path: '/nothing' }]);
});

it('a connection accepts any number of requests, one packet after the other', async () => {
  for (let round = 0; round < 3; round += 1) expect(await answersTo(GET.repeat(10) + LAST)).toBe(11);
});

it('a connection is cut if there is no memory for requests that wait behind another', async () => {
  const small = await startSampleApp({}, { memory: new MemoryBudget(128 * 1_024) });
  try {
    expect(await answersTo(GET.repeat(15) + LAST, small)).toBeLessThan(16);
    expect(await answersTo(GET + LAST, small)).toBe(2);
  } finally {
    await small.app.close();
  }
});
