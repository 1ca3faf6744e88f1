import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '../support/eventually.js';
import { attackedPod } from './attacked-pod.js';
import { Connections } from './connections.js';

const MIB = 2 ** 20;
const STREAMS = 30;
const PARTS = 100_000;
const ARRIVES_WITHIN_MS = 8_000;
/** The limit per request. Each part that is kept separately takes a hundred bytes and more. */
const MOST_MIB = 1;
const LISTS = 8;
const LIST_MIB = 16;

/** Runs the built program as a process with a pod's memory, its database and HTTP. Nothing is faked. */
describe('a body that no route reads', () => {
  const pod = attackedPod();

  it('takes no memory when it arrives in parts of one byte while the answer is sent', async () => {
    const before = await pod().memory();
    const connections = new Connections(pod().port);
    const sockets = Array.from({ length: STREAMS }, () =>
      connections.begin(
        'GET /api/v1/changelog/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
      ),
    );
    connections.writeToAll('1\r\nx\r\n'.repeat(PARTS));
    await eventually(
      'all has been sent',
      () => sockets.every(({ writableLength, connecting }) => !connecting && writableLength === 0),
      60_000,
    );
    await delay(ARRIVES_WITHIN_MS);
    const memory = await pod().memory();
    expect(connections.open).toBe(STREAMS);
    connections.endAll();
    expect(memory - before).toBeLessThan(STREAMS * MOST_MIB);
  });
});

describe('a list that does not end', () => {
  const pod = attackedPod();

  it('takes no memory for the parts that are on disk', async () => {
    const before = await pod().memory();
    const connections = new Connections(pod().port);
    const sockets = Array.from({ length: LISTS }, () =>
      connections.begin(
        `POST /run/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${32 * MIB}\r\n\r\n`,
      ),
    );
    connections.writeToAll(Buffer.alloc(LIST_MIB * MIB, ' '));
    await eventually(
      'all has been sent',
      () => sockets.every(({ writableLength, connecting }) => !connecting && writableLength === 0),
      60_000,
    );
    const memory = await pod().memory();
    expect(connections.open).toBe(LISTS);
    connections.endAll();
    expect(memory - before).toBeLessThan(LISTS * MOST_MIB);
  });
});
