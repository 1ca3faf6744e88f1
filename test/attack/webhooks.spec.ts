import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { attackedPod } from './attacked-pod.js';
import { ask, MIB, smallValues, type Attack } from './attacks/attack.js';
import type { Answered } from './requests.js';
import { withstand } from './withstand.js';

/** `client_webhook_bytes_per_minute`. */
const MOST_BYTES = 10 * MIB;

/** Real: the built program as a process in as much memory as a pod has, its database, HTTP, and a receiver. Nothing is faked. */
describe('webhooks of clients', () => {
  const pod = attackedPod(['--outbound-allow', '127.0.0.0/8']);
  let receiver: Server;
  let received = 0;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length));
      request.once('end', () => response.end());
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });
  afterAll(() => receiver.close());

  it('do not turn a few publishes into a flood at a receiver', async () => {
    const { port } = receiver.address() as AddressInfo;
    const flood: Attack = {
      name: 'ten webhooks, and six artifacts of a megabyte',
      async run(target) {
        const publish = (body: object | string): Promise<Answered> => ask(target, { path: '/api/v1/artifacts', headers: { 'x-correlation-id': 'announced' }, body });
        const answers: Answered[] = [];
        for (let n = 0; n < 10; n += 1) answers.push(await publish({ type: 'Blob', webhook: { url: `http://127.0.0.1:${port}/${n}` } }));
        for (let n = 0; n < 6; n += 1) answers.push(await publish(`{"type":"Blob","payload":{"l":${smallValues(MIB - 300)}}}`));
        return answers;
      },
    };
    await withstand(pod(), flood);
    // What is under way when the bound is reached still arrives.
    expect(received).toBeLessThanOrEqual(MOST_BYTES + 2 * MIB);
  });
});
