// A separate process: receives a Load as a message, and answers with the measurement or with the error.
import autocannon from 'autocannon';

import type { Load, LoadRequest, Measured } from './load.ts';
import { percentile } from './statistics.ts';

process.on('message', (load: Load) => {
  run(load).then(
    (measured) => process.send!({ measured }),
    (error: Error) => process.send!({ problem: error.message }),
  );
});

async function run(load: Load): Promise<Measured> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const { latencies, ended } = await send(load);
  const wallMs = ended - started;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / (wallMs / 1_000),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    generatorBusy: (user + system) / 1_000 / wallMs,
  };
}

async function send({ url, connections, ...load }: Load): Promise<Sent> {
  const urls = [url].flat();
  const sent = await Promise.all(urls.map((one) => sendTo(one, { ...load, connections: connections / urls.length })));
  return { latencies: sent.flatMap(({ latencies }) => latencies), ended: Math.max(...sent.map(({ ended }) => ended)) };
}

interface Sent {
  latencies: number[];
  /** The time of the last answer, in ms. */
  ended: number;
}

/**
 * Resolves when the load has finished; rejects if any answer was not a 200, because an error is quicker than the work.
 */
function sendTo(url: string, { requests, connections, until }: Omit<Load, 'url'>): Promise<Sent> {
  const latencies: number[] = [];
  let connection = 0;
  let ended = 0;
  let refused: number | null = null;
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url,
        connections,
        requests: requests.slice(0, 1),
        // The end is noticed at the end of a sample.
        sampleInt: 100,
        ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests }),
        setupClient: (client) => client.setRequests(shareOf(requests, connection++, connections)),
      },
      (error, { errors, timeouts }) => {
        if (error) reject(error);
        else if (refused !== null) reject(new Error(`${requests[0]!.path} answered ${refused}`));
        else if (errors + timeouts > 0) reject(new Error(`${errors} requests failed and ${timeouts} timed out`));
        else resolve({ latencies, ended });
      },
    );
    instance.on('response', (_client, status, _bytes, milliseconds) => {
      if (status !== 200) refused = status;
      latencies.push(milliseconds);
      ended = performance.now();
    });
  });
}

/**
 * Deals many requests out to the connections, because each connection prepares all that it is given. If there are few,
 * each connection gets all, and begins at a different place.
 */
function shareOf(requests: LoadRequest[], connection: number, connections: number): LoadRequest[] {
  if (requests.length > connections) return requests.filter((_, index) => index % connections === connection);
  const start = connection % requests.length;
  return [...requests.slice(start), ...requests.slice(0, start)];
}
