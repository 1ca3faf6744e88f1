import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Executor } from '../../src/blackboard/execution/executor.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { TraceCollector } from '../support/trace-collector.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  checker:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Checked }]
    engine: { kind: function, module: ./checker.js }
    retry: { attempts: 2, delay: 1ms }
  packer:
    consumes: [{ types: [Checked] }]
    publishes: [{ type: Packed }]
    engine: { kind: function, module: ./done.js }
`;

const FILES = {
  ...QUEUED,
  'checker.js': `export default (inputs, { attempt }) => {
    if (attempt === 1) throw new Error('not yet');
    return new Promise((resolve) => { globalThis.finishChecking = () => resolve({}); });
  };`,
};

const finishChecking = (): (() => void) | undefined => (globalThis as { finishChecking?: () => void }).finishChecking;

/**
 * Uses three apps on one Postgres, each with a separate SDK, a receiver of OTLP over HTTP and one of webhooks. The
 * worker that runs the first agent is stopping and claims no more, so the other one runs what follows.
 */
it('a correlation is one trace over the process that accepts it and those that work on it', async () => {
  const collector = await TraceCollector.start();
  const replicas = new Replicas();
  let deliveries = 0;
  const receiver = createServer((_request, response) => {
    deliveries += 1;
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const start = (service: string, role = WORKER) =>
      replicas.start(CONFIG, {
        files: FILES,
        role,
        tracing: collector.variables(service),
        settings: { shutdownGraceMs: 60_000, outboundAllow: ['127.0.0.1/32'] },
      });
    const server = await start('server', SERVER);
    const leaving = await start('leaving');
    const webhook = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` };
    await server.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'over-replicas')
      .send({ type: 'Order', webhook })
      .expect(200);
    await eventually(
      'the second attempt runs, and the order is delivered',
      () => finishChecking() !== undefined && deliveries === 1,
    );

    await start('staying');
    const left = leaving.close();
    await eventually(
      'the first worker claims no more',
      () => leaving.app.app.get(Executor, { strict: false }).whyNotWorking() !== null,
    );
    finishChecking()!();
    await left;
    expect(await server.ended('over-replicas')).toMatchObject({ state: 'completed', artifact_count: 3 });

    await eventually('the last span has arrived', () => collector.spans.some(({ name }) => name === 'agent packer'));
    const { traceId } = collector.spans.find(({ name }) => name === 'agent packer')!;
    const spans = await collector.trace(traceId, [
      'POST /api/v1/artifacts',
      'agent checker',
      'agent checker',
      'agent packer',
      'webhook',
      'webhook',
      'webhook',
    ]);
    const shown = new Map(
      spans.map(({ spanId, name, attributes }) => [
        spanId,
        `${name} ${attributes['starling.execution.attempt'] ?? attributes['starling.delivery.attempt'] ?? ''}`.trim(),
      ]),
    );
    expect(
      spans
        .map(({ service, spanId, parentSpanId }) => [service, shown.get(spanId), shown.get(parentSpanId ?? '')])
        .toSorted(),
    ).toEqual([
      ['leaving', 'agent checker 1', 'POST /api/v1/artifacts'],
      ['leaving', 'agent checker 2', 'POST /api/v1/artifacts'],
      ['leaving', 'webhook 1', 'POST /api/v1/artifacts'],
      ['server', 'POST /api/v1/artifacts', undefined],
      ['staying', 'agent packer 1', 'agent checker 2'],
      ['staying', 'webhook 1', 'agent checker 2'],
      ['staying', 'webhook 1', 'agent packer 1'],
    ]);
  } finally {
    await replicas.close();
    await collector.close();
    receiver.closeAllConnections();
    receiver.close();
  }
});
