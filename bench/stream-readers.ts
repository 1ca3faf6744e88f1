// A separate process: opens streams, reports that they are open, and returns the delays of their entries on request.
import { connect } from 'node:net';

import { percentile } from './statistics.ts';

export interface StreamLags {
  /** Entries that arrived, over all streams. */
  entries: number;
  /** Milliseconds from an artifact's creation, before its commit, to its entry's arrival. */
  p50: number;
  p99: number;
}

const STAMP = '"timestamp":"';
const STAMP_LENGTH = '2026-11-20T10:00:00.000Z'.length;

const [url = '', count = '0'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const lags: number[] = [];
const times = new Map<string, number>();

/** An artifact's time is in as many entries as there are streams. */
function timeOf(stamp: string): number {
  let time = times.get(stamp);
  if (time === undefined) times.set(stamp, (time = Date.parse(stamp)));
  return time;
}

async function open(): Promise<void> {
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.write(`GET /api/v1/changelog/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  let rest = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('close', () => reject(new Error(`a stream ended: ${rest}`)));
    socket.on('data', (chunk: string) => {
      const now = Date.now();
      const text = rest + chunk;
      if (text.includes('entries behind')) resolve();
      let at = 0;
      for (
        let found = text.indexOf(STAMP);
        found >= 0 && found + STAMP.length + STAMP_LENGTH <= text.length;
        found = text.indexOf(STAMP, at)
      ) {
        at = found + STAMP.length + STAMP_LENGTH;
        lags.push(now - timeOf(text.slice(found + STAMP.length, at)));
      }
      rest = text.slice(Math.max(at, text.length - STAMP.length - STAMP_LENGTH));
    });
  });
}

for (let opened = 0; opened < Number(count); opened += 100)
  await Promise.all(Array.from({ length: Math.min(100, Number(count) - opened) }, open));
process.send!('open');
process.on('message', () => {
  const sorted = [...lags].sort((a, b) => a - b);
  process.send!({
    entries: lags.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  } satisfies StreamLags);
});
