import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import type { Answered } from '../requests.js';
import { ask, type Attack, byConnections, givenUpAfter, inTurn, MIB, open, repeat, smallValues } from './attack.js';

const HANGS_UP_AFTER_MS = 5_000;
const LARGE = smallValues(MIB - 300);

const posts = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends 16 waiting requests on each connection, and returns what other clients are answered meanwhile. */
const pipelined = (connections: number, what: string, path: string, body: string): Attack => ({
  name: `${connections * 16} ${what}, 16 on each connection`,
  leastHonestShare: 0,
  mostRefused: 0,
  async run(target) {
    const answers: Answered[] = [];
    await byConnections(async (held) => {
      await repeat(connections / 25, 50, () => open(held, 25, posts(path, body).repeat(16)));
      await delay(HANGS_UP_AFTER_MS);
      answers.push(await ask(target, { path: '/api/v1/artifacts', body: { type: 'Blob', payload: {} } }));
    })(target);
    return answers;
  },
});

export const WAITING: Attack[] = [
  pipelined(1_600, 'synchronous publishes', '/api/v1/artifacts/sync', '{"type":"Errand","timeout":15,"payload":{}}'),
  {
    name: '60 synchronous publishes of 1.3 KB that inflate to a megabyte',
    run: (target) => {
      const body = gzipSync(`{"type":"Nap","timeout":300,"payload":{"l":${LARGE}}}`);
      return givenUpAfter(HANGS_UP_AFTER_MS, target, 60, () => ({
        path: '/api/v1/artifacts/sync',
        headers: { 'content-encoding': 'gzip' },
        body,
      }));
    },
  },
  {
    name: '20 synchronous publishes of 100 KB, which wait',
    run: (target) => {
      const body = `{"type":"Nap","timeout":300,"payload":{"l":${smallValues(100_000)}}}`;
      return givenUpAfter(HANGS_UP_AFTER_MS, target, 20, () => ({ path: '/api/v1/artifacts/sync', body }));
    },
  },
  {
    name: '4 synchronous publishes of a megabyte, which wait',
    run: (target) => {
      const body = `{"type":"Nap","timeout":300,"payload":{"l":${LARGE}}}`;
      return givenUpAfter(HANGS_UP_AFTER_MS, target, 4, () => ({ path: '/api/v1/artifacts/sync', body }));
    },
  },
  {
    name: '2 direct runs and 2 runs of a megabyte, which wait',
    run: (target) =>
      givenUpAfter(HANGS_UP_AFTER_MS, target, 4, (n) =>
        n % 2 === 0
          ? { path: '/api/v1/agents/sleeper/run', body: `{"inputs":[{"type":"Nap","payload":{"l":${LARGE}}}]}` }
          : { path: '/run/flock', body: `{"agent_name":"sleeper","inputs":{"l":${LARGE}}}` },
      ),
  },
  {
    name: '100 publishes of 100 KB that wait with the same idempotency key',
    run: (target) => {
      const body = `{"type":"Nap","timeout":300,"payload":{"l":${smallValues(100_000)}}}`;
      return givenUpAfter(HANGS_UP_AFTER_MS, target, 100, () => ({
        path: '/api/v1/artifacts/sync',
        headers: { 'x-idempotency-key': `same-${target.port}` },
        body,
      }));
    },
  },
  {
    name: '1,000 claims that wait for external work',
    run: (target) =>
      givenUpAfter(HANGS_UP_AFTER_MS, target, 1_000, (n) => ({
        path: '/api/v1/executions/claim',
        body: { agents: Array.from({ length: 100 }, () => 'errands'), max: 100, wait: 60, assignee: `worker-${n}` },
      })),
  },
  {
    name: '4 calls of tools with a megabyte, which wait',
    run: (target) => {
      const params = `{"name":"publish_Nap","arguments":{"timeout":300,"payload":{"l":${LARGE}}}}`;
      return givenUpAfter(HANGS_UP_AFTER_MS, target, 4, () => ({
        path: '/mcp',
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
      }));
    },
  },
  {
    name: '2,000 halves of joins that never complete',
    run: (target) =>
      inTurn(target, 2_000, (n) => ({
        path: '/api/v1/artifacts',
        body: { type: 'Left', payload: { key: `key-${n}` } },
      })),
  },
  {
    name: '2,000 artifacts that are hidden for a year',
    run: (target) =>
      inTurn(target, 2_000, (n) => ({
        path: '/api/v1/artifacts',
        body: { type: 'Ping', payload: { n }, visibility: { kind: 'After', ttl: 'P365D' } },
      })),
  },
  {
    name: '300 synchronous publishes into one correlation',
    run: (target) =>
      inTurn(target, 300, (n) => ({
        path: '/api/v1/artifacts/sync',
        headers: { 'x-correlation-id': `crowded-${target.port}` },
        body: { type: 'Ping', payload: { n } },
      })),
  },
];
