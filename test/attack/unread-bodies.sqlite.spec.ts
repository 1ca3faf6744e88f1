import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '../support/eventually.js';
import { attackedPod } from './attacked-pod.js';
import { Connections } from './connections.js';

const STREAMS = 30;
const PARTS = 100_000;
const ARRIVES_WITHIN_MS = 8_000;
/** Of memory, for each of them: on its own, a part takes a hundred bytes of it, and more beside it. */
const MOST_MIB = 1;

/** Real: the built program as a process in as much memory as a pod has, its database, HTTP. Nothing is faked. */
describe('a body that no route reads', () => {
  const pod = attackedPod();

  it('takes no memory, in parts of one byte, while the answer goes on', async () => {
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
