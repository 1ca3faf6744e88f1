// A separate process: repeats the requests of one open tab for many readers, until it is ended. It reports when all
// readers have begun.
import { setTimeout as wait } from 'node:timers/promises';

import type { RecordedRequest } from './dashboard.ts';

const [url = '', count = '0', recorded = '[]', length = '0'] = process.argv.slice(2);
const requests = JSON.parse(recorded) as RecordedRequest[];
const lengthMs = Number(length);

async function read(reader: number): Promise<void> {
  // The readers are spread over the time of the recording.
  await wait((reader / Number(count)) * lengthMs);
  for (;;) {
    const begun = performance.now();
    for (const { path, at } of requests) {
      await wait(Math.max(0, begun + at - performance.now()));
      const response = await fetch(url + path);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    }
    await wait(Math.max(0, begun + lengthMs - performance.now()));
  }
}

for (let reader = 0; reader < Number(count); reader += 1) void read(reader);
await wait(lengthMs);
process.send!('reading');
