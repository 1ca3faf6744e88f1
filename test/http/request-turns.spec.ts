// Uses the edge over HTTP before a sample controller, one of whose routes keeps the processor busy for some milliseconds.
import { connect, type Socket } from 'node:net';

import { eventually } from '../support/eventually.js';
import { type SampleApp, startSampleApp } from './sample-app.js';

const REQUESTS = 100;

let sample: SampleApp;
const sockets: Socket[] = [];
beforeAll(async () => {
  sample = await startSampleApp();
});
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => sample.app.close());

/** Opens connections that the service has accepted; the answers of each are collected in its `text`. */
async function open(count: number): Promise<{ socket: Socket; text: string }[]> {
  const port = Number(new URL(await sample.app.getUrl()).port);
  const opened = Array.from({ length: count }, () => ({ socket: connect(port, '127.0.0.1'), text: '' }));
  for (const one of opened)
    one.socket.on('data', (part: Buffer) => (one.text += part.toString())).on('error', () => undefined);
  sockets.push(...opened.map(({ socket }) => socket));
  for (const one of opened) {
    one.socket.write(request('/items/1'));
    await eventually('it is answered', () => one.text.endsWith('}'));
    one.text = '';
  }
  return opened;
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Requests `/health/live` once, and returns how many requests to /busy had begun when it was answered. */
async function busyRequests(connection: { socket: Socket; text: string }): Promise<number> {
  connection.text = '';
  connection.socket.write(request('/health/live'));
  await eventually('the health check is answered', () => connection.text.endsWith('}'));
  return Number(/\{"busyRequests":(\d+)\}/.exec(connection.text)![1]);
}

it('a health check does not wait for all requests that arrived before it, and all of them are answered', async () => {
  const [probe, ...clients] = await open(1 + REQUESTS);
  const before = await busyRequests(probe!);
  clients.forEach(({ socket }) => socket.write(request('/busy')));
  expect((await busyRequests(probe!)) - before).toBeLessThan(REQUESTS / 2);
  await eventually('all are answered', () => clients.every(({ text }) => text.startsWith('HTTP/1.1 200')));
  expect((await busyRequests(probe!)) - before).toBe(REQUESTS);
});

it('a request whose client has disconnected before its turn does not begin', async () => {
  const [probe, ...clients] = await open(1 + REQUESTS);
  const before = await busyRequests(probe!);
  clients.forEach(({ socket }) => socket.write(request('/busy')));
  await busyRequests(probe!);
  const [patient, gone] = [clients.slice(0, REQUESTS / 2), clients.slice(REQUESTS / 2)];
  gone.forEach(({ socket }) => socket.resetAndDestroy());
  await eventually('the others are answered', () => patient.every(({ text }) => text.startsWith('HTTP/1.1 200')));
  expect((await busyRequests(probe!)) - before).toBeLessThan(REQUESTS);
});

it('a health check on a new connection does not wait for the requests of all connections before it', async () => {
  const [probe] = await open(1);
  const before = await busyRequests(probe!);
  const port = Number(new URL(await sample.app.getUrl()).port);
  const clients = Array.from({ length: 2 * REQUESTS }, () => ({ socket: connect(port, '127.0.0.1'), text: '' }));
  const late = { socket: connect(port, '127.0.0.1'), text: '' };
  for (const one of [...clients, late]) {
    sockets.push(one.socket);
    one.socket.on('data', (part: Buffer) => (one.text += part.toString())).on('error', () => undefined);
  }
  clients.forEach(({ socket }) => socket.write(request('/busy')));
  expect((await busyRequests(late)) - before).toBeLessThan(REQUESTS);
  await eventually('all are answered', () => clients.every(({ text }) => text.startsWith('HTTP/1.1 200')));
});

it('a client that says it has nothing more to send is answered, even if its request waits', async () => {
  const port = Number(new URL(await sample.app.getUrl()).port);
  const clients = Array.from({ length: REQUESTS }, () => ({
    socket: connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
    text: '',
  }));
  for (const one of clients) {
    sockets.push(one.socket);
    one.socket.on('data', (part: Buffer) => (one.text += part.toString())).on('error', () => undefined);
    one.socket.end(request('/busy'));
  }
  await eventually('all are answered', () => clients.every(({ text }) => text.startsWith('HTTP/1.1 200')));
});
