import { Executor } from '../../src/blackboard/executor/executor.js';
import { eventually } from '../support/eventually.js';
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
    engine: { kind: expression, expression: '{"packed": true}' }
`;

const FILES = {
  'checker.js': `export default (inputs, { attempt }) => {
    if (attempt === 1) throw new Error('not yet');
    return new Promise((resolve) => { globalThis.finishChecking = () => resolve({}); });
  };`,
};

const finishChecking = (): (() => void) | undefined => (globalThis as { finishChecking?: () => void }).finishChecking;

/**
 * Real: three apps on one Postgres, each with an SDK of its own, and a receiver of OTLP over HTTP. The worker that runs the first
 * agent is on its way out and claims no more, so that the other one runs what follows.
 */
it('a correlation is one trace over the process that takes it and those that work on it', async () => {
  const collector = await TraceCollector.start();
  const replicas = new Replicas();
  try {
    const start = (service: string, role = WORKER) =>
      replicas.start(CONFIG, { files: FILES, role, tracing: collector.variables(service), settings: { shutdownGraceMs: 60_000 } });
    const server = await start('server', SERVER);
    const leaving = await start('leaving');
    const correlation = await server.publish('Order', {});
    await eventually('the second attempt runs', () => finishChecking() !== undefined);

    await start('staying');
    const left = leaving.close();
    await eventually('the first worker claims no more', () => leaving.app.app.get(Executor, { strict: false }).whyNotWorking() !== null);
    finishChecking()!();
    await left;
    expect(await server.ended(correlation)).toMatchObject({ state: 'completed', artifact_count: 3 });

    await eventually('the last span has come', () => collector.spans.some(({ name }) => name === 'agent packer'));
    const { traceId } = collector.spans.find(({ name }) => name === 'agent packer')!;
    const spans = await collector.trace(traceId, ['POST /api/v1/artifacts', 'agent checker', 'agent checker', 'agent packer']);
    const shown = new Map(spans.map(({ spanId, name, attributes }) => [spanId, `${name} ${attributes['starling.execution.attempt'] ?? ''}`.trim()]));
    expect(spans.map(({ service, spanId, parentSpanId }) => [service, shown.get(spanId), shown.get(parentSpanId ?? '')]).toSorted()).toEqual([
      ['leaving', 'agent checker 1', 'POST /api/v1/artifacts'],
      ['leaving', 'agent checker 2', 'POST /api/v1/artifacts'],
      ['server', 'POST /api/v1/artifacts', undefined],
      ['staying', 'agent packer 1', 'agent checker 2'],
    ]);
  } finally {
    await replicas.close();
    await collector.close();
  }
});
