import { setTimeout as delay } from 'node:timers/promises';

import { type Attack, byConnections, open, repeat } from './attack.js';

const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

const unread = (count: number, path: string): Attack => ({
  name: `${count} requests for ${path} whose answers are not read`,
  run: byConnections(async (connections) => {
    await open(connections, count, get(path), { reads: false });
    await delay(5_000);
  }),
});

export const CONNECTIONS: Attack[] = [
  {
    name: '3,000 connections that never finish their headers',
    run: byConnections(async (connections) => {
      await open(connections, 3_000, 'GET / HTTP/1.1\r\nHost: localhost\r\n');
      await repeat(8, 500, (n) => connections.writeToAll(`X-${n}: ${'a'.repeat(50)}\r\n`));
    }),
  },
  {
    name: '3,000 connections that send nothing',
    run: byConnections(async (connections) => {
      await open(connections, 3_000, '');
      await delay(4_000);
    }),
  },
  {
    name: 'requests with 15 KB of headers',
    run: byConnections(async (connections) => {
      const headers = Array.from({ length: 900 }, (_, n) => `x-${n}: ${n}`);
      await repeat(20, 200, () => open(connections, 10, get('/agents', ...headers)));
    }),
  },
  {
    name: '3,000 connections with broken HTTP',
    run: byConnections((connections) =>
      repeat(30, 120, () => open(connections, 100, `G\0T / HTTP/9.9\r\n${'x'.repeat(200)}`)),
    ),
  },
  {
    name: '20 connections that pipeline 2,000 requests and read no answer',
    run: byConnections(async (connections) => {
      await open(connections, 20, get('/api/v1/artifacts').repeat(2_000), { reads: false });
      await delay(5_000);
    }),
  },
  unread(200, '/openapi.json'),
  unread(100, '/docs/redoc.standalone.js'),
  unread(200, '/metrics'),
];
