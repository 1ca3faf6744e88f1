import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { forked, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { residentMegabytes } from './memory.ts';
import type { Row } from './row.ts';
import type { StreamLags } from './stream-readers.ts';

const STREAMS = 2_000;
const PER_SECOND = 10;

/** Measures the delay of entries to many streams without a filter. */
export async function streamRow(folder: string, databaseUrl?: string, seconds = 20): Promise<Row> {
  const server = await Server.starling(folder, 'streams', {
    databaseUrl,
    options: ['--max-streams-per-address', String(STREAMS)],
  });
  const idle = residentMegabytes(server.pid);
  const readers = forked('stream-readers.ts', [server.url, String(STREAMS)]);
  await once(readers, 'message');
  for (let published = 0; published < PER_SECOND * seconds; published += 1) {
    void publish(server.url);
    await wait(1_000 / PER_SECOND);
  }
  const lags = await eventually('every stream has every entry', async () => {
    readers.send('how late?');
    const [found] = (await once(readers, 'message')) as [StreamLags];
    return found.entries === STREAMS * PER_SECOND * seconds ? found : undefined;
  });
  const resident = residentMegabytes(server.pid);
  readers.kill();
  await server.stop();
  return {
    work: `${STREAMS} streams at ${PER_SECOND} artifacts/s: p99 of the lag`,
    value: lags.p99,
    atLeast: 250,
    aim: 100,
    better: 'lower',
    unit: ' ms',
    measured: `p50 ${lags.p50} ms; ${resident.toFixed(0)} MB`,
    baseline: `${idle.toFixed(0)} MB without streams`,
  };
}

async function publish(url: string): Promise<void> {
  const body = '{"type":"Note","payload":{"text":"Where is parcel 4711?"}}';
  const response = await fetch(`${url}/api/v1/artifacts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.status !== 200) throw new Error(`a publish answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
