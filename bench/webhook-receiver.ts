// A separate process: receives webhooks, and reports how many came since the last query, and how late.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { percentile } from './statistics.ts';

export interface Received {
  deliveries: number;
  /** From the creation of the artifact to the end of its webhook, in ms. */
  p50: number;
  p99: number;
}

let lags: number[] = [];

const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { artifact } = JSON.parse(body) as { artifact: { created_at: string } };
    lags.push(Date.now() - Date.parse(artifact.created_at));
    response.end();
  });
});

process.on('message', (question: 'how many?' | 'reset') => {
  lags.sort((a, b) => a - b);
  process.send!({
    deliveries: lags.length,
    p50: percentile(lags, 0.5),
    p99: percentile(lags, 0.99),
  } satisfies Received);
  if (question === 'reset') lags = [];
});

server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
