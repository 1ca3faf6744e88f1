// A process of its own: takes webhooks, and says how many came and how late, of those since it was last asked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { percentile } from './statistics.ts';

export interface Received {
  deliveries: number;
  /** From the making of the artifact to the whole of its webhook, in ms. */
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

process.on('message', (question: 'how many?' | 'begin anew') => {
  lags.sort((a, b) => a - b);
  process.send!({
    deliveries: lags.length,
    p50: percentile(lags, 0.5),
    p99: percentile(lags, 0.99),
  } satisfies Received);
  if (question === 'begin anew') lags = [];
});

server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
