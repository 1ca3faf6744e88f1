import { setTimeout as delay } from 'node:timers/promises';

import type { Answered } from '../requests.js';
import { ask, atOnce, type Attack, byConnections, MIB, open, smallValues, type Target } from './attack.js';

const CORRELATION = 'large';
const LARGE = 50;
const LONG_MS = 60_000;
const LIST = '/api/v1/artifacts?limit=500';

/** Publishes 50 artifacts of one megabyte into one correlation. */
async function publishLarge(target: Target): Promise<void> {
  const body = `{"type":"Blob","payload":{"l":${smallValues(MIB - 200)}}}`;
  for (let published = 0; published < LARGE;) {
    const { status, text } = await ask(target, {
      path: '/api/v1/artifacts',
      headers: { 'x-correlation-id': CORRELATION },
      body,
    });
    if (status === 200) published += 1;
    else if (status !== 503) throw new Error(`a large artifact was not published: ${status} ${text}`);
  }
}

const reads = (target: Target, count: number, path: string): Promise<Answered[]> =>
  atOnce(target, count, () => ({ path, timeoutMs: LONG_MS }));

const page = (path: string): Attack => ({
  name: `pages of 50 MB, one after the other: ${path}`,
  prepare: publishLarge,
  run: async (target) => [...(await reads(target, 1, path)), ...(await reads(target, 1, path))],
});

export const ANSWERS: Attack[] = [
  page(LIST),
  page(`${LIST}&embed_meta=true`),
  page(`/api/v1/correlations/${CORRELATION}/trace`),
  page('/api/v1/changelog/events?limit=500'),
  { name: 'six pages of 50 MB at the same time', prepare: publishLarge, run: (target) => reads(target, 6, LIST) },
  {
    name: '60 unread pages of 50 MB',
    prepare: publishLarge,
    run: byConnections(async (connections) => {
      await open(connections, 60, `GET ${LIST} HTTP/1.1\r\nHost: localhost\r\n\r\n`, { reads: false });
      await delay(6_000);
    }),
  },
  {
    name: 'pages of 50 MB as answers of a tool, four in parallel',
    prepare: publishLarge,
    run: (target) => {
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_artifacts', arguments: { limit: 500 } },
      };
      return atOnce(target, 4, () => ({ path: '/mcp', body, timeoutMs: LONG_MS }));
    },
  },
];
