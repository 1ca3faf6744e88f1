import type { ServerResponse } from 'node:http';

import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { Receiver } from '../support/receiver.js';
import { Replicas, withoutPolling, WORKER } from './replica-boards.js';

const CONFIG = `
types: { Order: {}, Note: {} }
agents:
  copier: { consumes: [{ types: [Order] }], publishes: [{ type: Copy }], engine: { kind: function, module: ./gate.js } }
  reader: { consumes: [{ types: [Copy] }], publishes: [{ type: Read }], engine: { kind: function, module: ./done.js } }
`;

/** Recorded in memory that the apps share. */
const GATE = `export default () => (globalThis.closingGate ??= Promise.withResolvers()).promise;`;

const openGate = (): void =>
  (globalThis as unknown as { closingGate?: PromiseWithResolvers<object> }).closingGate?.resolve({});

/** Uses two apps on one Postgres that only wake-ups connect, and the receiver. */
describe('work that becomes claimable while its process stops', () => {
  const replicas = new Replicas();
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
  });

  afterAll(async () => {
    openGate();
    await receiver.close();
    await replicas.close();
  });

  it('is done by another one without delay: the next delivery of a group, and an execution', async () => {
    const options = {
      files: { ...QUEUED, 'gate.js': GATE },
      role: WORKER,
      settings: { outboundAllow: ['127.0.0.0/8'], shutdownGraceMs: 30_000 },
    };
    const stopping = withoutPolling(await replicas.start(CONFIG, options));
    const held: ServerResponse[] = [];
    receiver.on(
      '/hook',
      (response, { sequence }) =>
        void (sequence === 1 && held.length === 0 ? held.push(response) : response.writeHead(200).end()),
    );
    const webhook = { url: receiver.url('/hook') };
    await stopping.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'group')
      .send({ type: 'Order', payload: {}, webhook })
      .expect(200);
    await eventually(
      'the first is being delivered, and the gate is entered',
      () => held.length === 1 && 'closingGate' in globalThis,
    );
    await stopping.publish('Note', {}, { correlation: 'group' });

    const other = withoutPolling(await replicas.start(CONFIG, options));
    // Waits until it has searched the target's queue behind the waiting one.
    await other.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'other')
      .send({ type: 'Note', payload: {}, webhook })
      .expect(200);
    await eventually('it delivers', () => receiver.received.some(({ correlation }) => correlation === 'other'));

    stopping.app.lifecycle.stop();
    held[0]!.writeHead(200).end();
    await eventually('the next of the group has arrived', () =>
      receiver.received.some(({ correlation, sequence }) => correlation === 'group' && sequence === 2),
    );
    openGate();
    expect(await other.ended('group')).toMatchObject({ state: 'completed', artifact_count: 4 });
  });
});
