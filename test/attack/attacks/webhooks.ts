import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Answered } from '../requests.js';
import { ask, type Attack, MIB, smallValues } from './attack.js';

/** Counts the requests that webhooks send to it. It does not keep its process alive. */
class Victim {
  received = 0;
  private server: Server | undefined;

  async start(): Promise<void> {
    if (this.server) return;
    this.server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => (this.received += chunk.length));
      request.once('end', () => response.end());
    });
    this.server.listen(0, '127.0.0.1').unref();
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }
}

export const victim = new Victim();
const prepare = (): Promise<void> => victim.start();

/** The pod has to run with `REACHES_VICTIM`. */
export const WEBHOOKS: Attack[] = [
  {
    name: 'ten webhooks, and six artifacts of a megabyte',
    prepare,
    async run(target) {
      const correlation = `announced-${randomUUID()}`;
      const publish = (body: object | string): Promise<Answered> =>
        ask(target, { path: '/api/v1/artifacts', headers: { 'x-correlation-id': correlation }, body });
      const answers: Answered[] = [];
      for (let n = 0; n < 10; n += 1)
        answers.push(await publish({ type: 'Blob', webhook: { url: `${victim.url}/${n}` } }));
      for (let n = 0; n < 6; n += 1)
        answers.push(await publish(`{"type":"Blob","payload":{"l":${smallValues(MIB - 300)}}}`));
      return answers;
    },
  },
];

export const REACHES_VICTIM = ['--outbound-allow', '127.0.0.0/8'];
