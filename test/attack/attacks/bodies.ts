import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { atOnce, type Attack, byConnections, inTurn, MIB, open, repeat, smallValues } from './attack.js';

const GZIP = { 'content-encoding': 'gzip' };
const LIST = gzipSync(`{"agent_name":"clerk","batch_inputs":${smallValues(32 * MIB - 200)}}`);

const head = (path: string, length: number, headers: string[] = []): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...headers,
    '',
    '',
  ].join('\r\n');

const publishes = (what: string, body: string): Attack => ({
  name: `${what}, four in parallel, twice`,
  async run(target) {
    const four = () => atOnce(target, 4, () => ({ path: '/api/v1/artifacts', body }));
    const first = await four();
    await delay(2_500);
    return [...first, ...(await four())];
  },
});

/** Returns a list of nearly one megabyte with copies of one text. */
const many = (item: string): string =>
  `[${Array(Math.floor((MIB - 200) / (item.length + 1)))
    .fill(item)
    .join()}]`;

const published = (type: string, payload: string): string => `{"type":"${type}","payload":${payload}}`;

/**
 * Bodies of nearly one megabyte that are slow to parse, to search, to convert into a DTO or to check against a schema.
 */
const HOSTILE = [
  published('Blob', `{"l":${many('{}')}}`),
  published('Blob', `{"l":${many('{"a":{"b":[]}}')}}`),
  published('Blob', `{"l":${many('1')}}`),
  published('Blob', `{"l":${many('1.7e-7')}}`),
  published('Blob', `{"l":${many(`${'['.repeat(60)}${']'.repeat(60)}`)}}`),
  published('Blob', `{${many('"a":0').slice(1, -1)}}`),
  published('Blob', `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":0`).join()}}`),
  published('Blob', `{${Array.from({ length: 80_000 }, (_, n) => `"${n * 7_919}":0`).join()}}`),
  published('Blob', `{"s":"${'\\u0061'.repeat((MIB - 200) / 6)}"}`),
  published('Set', `{"items":[${Array.from({ length: 60_000 }, (_, n) => `{"n":${n}}`).join()}]}`),
  published('Any', `{"items":${many('{"c":1}')}}`),
  `{"type":"Blob","tags":${many('{}')}}`,
  `{"type":"Blob","webhook":{"url":${many('{}')}}}`,
];

export const BODIES: Attack[] = [
  {
    name: '32 KB of gzip with 32 MiB of a list of inputs, four in parallel',
    run: (target) => atOnce(target, 4, () => ({ path: '/run/batch', headers: GZIP, body: LIST })),
  },
  {
    name: '60 bodies of 32 KB of gzip that are never finished',
    run: byConnections(async (connections) => {
      const begun = Buffer.concat([
        Buffer.from(head('/run/batch', LIST.length, ['Content-Encoding: gzip'])),
        LIST.subarray(0, -16),
      ]);
      await open(connections, 60, begun);
      await delay(8_000);
    }),
  },
  {
    name: '60 bodies that grow to 8 MiB and are never finished',
    run: byConnections(async (connections) => {
      await open(connections, 60, head('/run/batch', 32 * MIB));
      await repeat(32, 250, () => connections.writeToAll(Buffer.alloc(MIB / 4, ' ')));
    }),
  },
  {
    name: '300 bodies that arrive byte by byte',
    run: byConnections(async (connections) => {
      await open(connections, 300, head('/api/v1/artifacts', MIB));
      await repeat(16, 250, () => connections.writeToAll(' '));
    }),
  },
  publishes('a megabyte of brackets', '['.repeat(MIB - 1)),
  publishes('a megabyte of nested objects', '{"a":'.repeat((MIB - 1) / 5)),
  publishes('an integer of a megabyte', `{"type":"Blob","payload":{"n":${'9'.repeat(MIB - 100)}}}`),
  publishes('a megabyte of escapes', `{"type":"Blob","payload":{"s":"${'\\u0061'.repeat((MIB - 100) / 6)}"}}`),
  publishes(
    '80,000 keys',
    `{"type":"Blob","payload":{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":0`).join()}}}`,
  ),
  publishes('a megabyte of empty objects', `{"type":"Blob","payload":{"l":${smallValues(MIB - 200)}}}`),
  {
    name: 'hostile bodies of a megabyte from eight clients, without a pause',
    mostStoredMib: 512,
    run: (target) =>
      inTurn(target, 8 * HOSTILE.length, (n) => ({
        path: '/api/v1/artifacts',
        body: HOSTILE[n % HOSTILE.length]!,
        ...(n % 2 === 1 && { headers: { 'x-idempotency-key': `hostile-${n}` } }),
      })),
  },
  publishes('a field name of a megabyte', `{"${'n'.repeat(MIB - 100)}":1}`),
];
