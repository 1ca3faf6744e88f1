import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { inTurn, replies } from '../support/remote-agent.js';
import { type CollectedSpan, KIND, TraceCollector } from '../support/trace-collector.js';
import { Board } from './board.js';

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
  teller:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: function, module: ./teller.js }
  failing:
    consumes: [{ types: [Doomed] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./failing.js }
    retry: { attempts: 1 }
  inspector:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Inspected }]
    engine: { kind: http, url: "\${INSPECTOR_URL:-http://127.0.0.1:9/}" }
    retry: { attempts: 2, delay: 1ms }
  counter:
    consumes: [{ types: [Tick], batch: { size: 2 } }]
    publishes: [{ type: Count }]
    engine: { kind: expression, expression: '{"size": size(payload)}' }
`;

const FILES = {
  'checker.js': `export default ([{ payload }], { attempt, traceparent }) => {
    if (attempt === 1) throw new Error('not yet: ' + payload.secret);
    return { secret: payload.secret, traceparent };
  };`,
  'teller.js': 'export default (inputs, { traceparent }) => ({ traceparent });',
  'failing.js': `export default () => { throw new TypeError('it quotes hunter2'); };`,
};

// The example of W3C Trace Context, section "Examples of HTTP traceparent Headers".
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const given = (flags = '01'): string => `00-${TRACE}-${CALLER}-${flags}`;

const CASCADE = ['POST /api/v1/artifacts/sync', 'agent checker', 'agent checker', 'agent packer'];

/** Returns the span of that name; after several attempts, that of the given attempt. */
function one(spans: CollectedSpan[], name: string, attempt = 1): CollectedSpan {
  const found = spans.filter(
    (span) => span.name === name && (span.attributes['starling.execution.attempt'] ?? attempt) === attempt,
  );
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0]!;
}

/** Uses the whole app over HTTP, OpenTelemetry's SDK and its exporter, and a receiver of OTLP over HTTP. */
describe('with a collector', () => {
  let collector: TraceCollector;
  let board: Board;
  let remote: Receiver;

  beforeAll(async () => {
    collector = await TraceCollector.start();
    const settings = { outboundAllow: ['127.0.0.1/32'], webhookRetries: [100] };
    remote = await Receiver.start();
    board = await Board.start(CONFIG, {
      files: FILES,
      settings,
      tracing: collector.variables(),
      environment: { INSPECTOR_URL: remote.url('/') },
    });
  });

  afterAll(async () => {
    await board.close();
    await remote.close();
    await collector.close();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    board.http.post(path).set(headers).send(body).expect(200);

  /** Returns the trace of a correlation. */
  async function traceOf(correlation: string): Promise<string> {
    const ofIt = (): CollectedSpan | undefined =>
      collector.spans.find(({ attributes }) => attributes['starling.correlation.id'] === correlation);
    await eventually(`a span of ${correlation} has arrived`, () => ofIt() !== undefined);
    return ofIt()!.traceId;
  }

  it("a publish, the executions that it triggers, a retry and its results are one trace, which continues a caller's", async () => {
    const order = { type: 'Order', payload: { secret: 'hunter2' } };
    const { body } = await post('/api/v1/artifacts/sync', order, {
      traceparent: given(),
      'X-Correlation-ID': 'one-trace',
    });
    const spans = await collector.trace(TRACE, CASCADE);

    const request = one(spans, 'POST /api/v1/artifacts/sync');
    const first = one(spans, 'agent checker', 1);
    const second = one(spans, 'agent checker', 2);
    const packer = one(spans, 'agent packer');
    expect([request, first, second, packer].map(({ parentSpanId }) => parentSpanId)).toEqual([
      CALLER,
      request.spanId,
      request.spanId,
      second.spanId,
    ]);
    expect([request, first, second, packer].map(({ kind }) => kind)).toEqual([
      KIND.server,
      KIND.consumer,
      KIND.consumer,
      KIND.consumer,
    ]);

    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/api/v1/artifacts/sync',
      'http.response.status_code': 200,
      'starling.correlation.id': 'one-trace',
    });
    const execution = {
      'starling.agent': 'checker',
      'starling.correlation.id': 'one-trace',
      'starling.execution.id': second.attributes['starling.execution.id'],
    };
    expect(first.attributes).toEqual({
      ...execution,
      'starling.execution.attempt': 1,
      'starling.execution.outcome': 'retried',
      'error.type': 'Error',
    });
    expect(second.attributes).toEqual({
      ...execution,
      'starling.execution.attempt': 2,
      'starling.execution.outcome': 'completed',
    });
    expect(spans.filter(({ status }) => status.code === 2)).toEqual([first]);

    const settled = {
      name: 'correlation settled',
      attributes: { 'starling.correlation.id': 'one-trace', 'starling.correlation.state': 'completed' },
    };
    expect(spans.flatMap((span) => span.events.map((event) => [span.name, event]))).toEqual([
      ['agent packer', settled],
    ]);
    // The trace context that an agent can pass on names its current attempt.
    expect((body as { artifacts: { payload: object }[] }).artifacts[0]!.payload).toMatchObject({
      traceparent: `00-${TRACE}-${second.spanId}-01`,
    });
    expect(collector.bodies.join('\n')).not.toContain('hunter2');
    const lines = board.app.logLines.filter(
      ({ msg, correlation_id }) => msg === 'execution' && correlation_id === 'one-trace',
    );
    expect(lines.map(({ agent }) => agent).sort()).toEqual(['checker', 'checker', 'packer']);
    expect(new Set(lines.map(({ trace_id }) => trace_id))).toEqual(new Set([TRACE]));
  });

  it('without a given trace, the correlation starts one, and later publishes into it continue there', async () => {
    const correlation = await board.publish('Question', {});
    await board.ended(correlation);
    const traceId = await traceOf(correlation);
    await board.publishSync('Question', {}, { correlation });
    const spans = await collector.trace(traceId, [
      'POST /api/v1/artifacts',
      'agent teller',
      'POST /api/v1/artifacts/sync',
      'agent teller',
    ]);

    const [first, later] = [one(spans, 'POST /api/v1/artifacts'), one(spans, 'POST /api/v1/artifacts/sync')];
    expect([first.parentSpanId, later.parentSpanId]).toEqual([undefined, first.spanId]);
    expect(spans.filter(({ name }) => name === 'agent teller').map(({ parentSpanId }) => parentSpanId)).toEqual([
      first.spanId,
      later.spanId,
    ]);
  });

  it("a later caller's own trace is linked to that of the correlation, in which the work continues", async () => {
    const correlation = await board.publish('Question', {});
    await board.ended(correlation);
    const traceId = await traceOf(correlation);
    const [other, caller] = ['c'.repeat(32), 'd'.repeat(16)];
    await post(
      '/api/v1/artifacts',
      { type: 'Question', payload: {} },
      { 'X-Correlation-ID': correlation, traceparent: `00-${other}-${caller}-01` },
    );

    const spans = await collector.trace(traceId, ['POST /api/v1/artifacts', 'agent teller', 'agent teller']);
    const first = one(spans, 'POST /api/v1/artifacts');
    const [later] = await collector.trace(other, ['POST /api/v1/artifacts']);
    expect([later!.parentSpanId, later!.links.map((link) => [link.traceId, link.spanId])]).toEqual([
      caller,
      [[traceId, first.spanId]],
    ]);
  });

  it('spans of webhook deliveries are children of the publish, one for each try, and the receiver gets their ids', async () => {
    const heard: IncomingMessage['headers'][] = [];
    // Refuses the first try of each.
    const receiver = createServer(({ headers }, response) => {
      const isFirst = !heard.some((earlier) => earlier['webhook-id'] === headers['webhook-id']);
      heard.push(headers);
      response.writeHead(isFirst ? 503 : 204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const webhook = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?token=path-token` };
      const trace = '9'.repeat(32);
      await post(
        '/api/v1/artifacts',
        { type: 'Question', payload: {}, webhook },
        { traceparent: `00-${trace}-${CALLER}-01` },
      );
      const spans = await collector.trace(trace, [
        'POST /api/v1/artifacts',
        'agent teller',
        ...Array<string>(4).fill('webhook'),
      ]);
      const [request, teller] = [one(spans, 'POST /api/v1/artifacts'), one(spans, 'agent teller')];
      const tries = spans.filter(({ name }) => name === 'webhook');
      expect(
        tries.map(({ parentSpanId, attributes }) => [
          parentSpanId,
          attributes['starling.delivery.attempt'],
          attributes['http.response.status_code'],
          attributes['starling.delivery.outcome'],
        ]),
      ).toEqual([
        [request.spanId, 1, 503, 'retried'],
        [request.spanId, 2, 204, 'delivered'],
        [teller.spanId, 1, 503, 'retried'],
        [teller.spanId, 2, 204, 'delivered'],
      ]);
      expect(tries.map(({ kind, status }) => [kind, status.code])).toEqual(
        [2, 0, 2, 0].map((code) => [KIND.client, code]),
      );
      expect(heard.map(({ traceparent }) => traceparent)).toEqual(
        tries.map(({ spanId }) => `00-${trace}-${spanId}-01`),
      );
      expect(collector.bodies.join('\n')).not.toContain('path-token');
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  it('a remote agent receives the span of the attempt', async () => {
    remote.on('/', inTurn(answers(503), replies({ sound: true })));
    const trace = '8'.repeat(32);
    await post('/api/v1/artifacts', { type: 'Parcel', payload: {} }, { traceparent: `00-${trace}-${CALLER}-01` });
    const spans = await collector.trace(trace, ['POST /api/v1/artifacts', 'agent inspector', 'agent inspector']);
    const attempts = [1, 2].map((attempt) => one(spans, 'agent inspector', attempt));
    expect(remote.received.map(({ headers }) => headers.traceparent)).toEqual(
      attempts.map(({ spanId }) => `00-${trace}-${spanId}-01`),
    );
  });

  it('runs, direct runs and their failures have a trace each', async () => {
    const run = await post('/run/flock', { agent_name: 'checker', inputs: {} });
    const runSpans = await collector.trace(await traceOf((run.body as { run_id: string }).run_id), [
      'POST /run/flock',
      ...CASCADE.slice(1),
    ]);
    expect(one(runSpans, 'agent packer').parentSpanId).toBe(one(runSpans, 'agent checker', 2).spanId);

    await board.http
      .post('/api/v1/agents/failing/run')
      .set('traceparent', `00-${'e'.repeat(32)}-${CALLER}-01`)
      .send({ inputs: [{ type: 'Doomed', payload: {} }] })
      .expect(500);
    const spans = await collector.trace('e'.repeat(32), ['POST /api/v1/agents/:agent_name/run', 'agent failing']);
    const request = one(spans, 'POST /api/v1/agents/:agent_name/run');
    const failed = one(spans, 'agent failing');
    expect([
      failed.parentSpanId,
      failed.status.code,
      failed.attributes['error.type'],
      failed.attributes['starling.execution.outcome'],
    ]).toEqual([request.spanId, 2, 'TypeError', 'failed']);
    expect([request.status.code, request.attributes['error.type']]).toEqual([2, '500']);
    expect(collector.bodies.join('\n')).not.toContain('hunter2');
  });

  it('each run of a batch has a separate trace', async () => {
    const { body } = await post('/run/batch', { agent_name: 'teller', batch_inputs: [{}, {}] });
    const { batch_id } = body as { batch_id: string };
    let runs: string[] = [];
    await eventually('the batch has finished', async () => {
      const batch = (await board.http.get(`/batch/${batch_id}`)).body as {
        status: string;
        results?: { run_id: string }[];
      };
      runs = (batch.results ?? []).map(({ run_id }) => run_id);
      return batch.status === 'completed';
    });
    const traces = await Promise.all(runs.map(traceOf));
    expect(new Set(traces).size).toBe(2);
    for (const trace of traces) {
      const spans = await collector.trace(trace, ['correlation', 'agent teller']);
      expect(one(spans, 'agent teller').parentSpanId).toBe(one(spans, 'correlation').spanId);
    }
  });

  it('an execution over several correlations is in the trace of the one that it belongs to', async () => {
    const [first, second] = [await board.publish('Tick', {}), await board.publish('Tick', {})];
    await board.ended(second);
    const [traceOfFirst, traceOfSecond] = [await traceOf(first), await traceOf(second)];
    const spans = await collector.trace(traceOfSecond, ['POST /api/v1/artifacts', 'agent counter']);
    expect(one(spans, 'agent counter').parentSpanId).toBe(one(spans, 'POST /api/v1/artifacts').spanId);
    await collector.trace(traceOfFirst, ['POST /api/v1/artifacts']);
  });

  it('a caller that does not sample is followed, and an unreadable traceparent starts a new trace', async () => {
    const unsampled = 'a'.repeat(32);
    const answer = async (traceparent: string): Promise<string> => {
      const { body } = await post('/api/v1/artifacts/sync', { type: 'Question', payload: {} }, { traceparent });
      return (body as { artifacts: { payload: { traceparent: string } }[] }).artifacts[0]!.payload.traceparent;
    };
    expect(await answer(`00-${unsampled}-${CALLER}-00`)).toMatch(new RegExp(`^00-${unsampled}-[0-9a-f]{16}-00$`));
    const broken = [`00-${'0'.repeat(32)}-${CALLER}-01`, 'ff-' + given().slice(3), `00-${TRACE}-01`, 'x'.repeat(5_000)];
    for (const traceparent of broken) {
      const [, traceId] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(await answer(traceparent)) ?? [];
      expect([TRACE, unsampled]).not.toContain(traceId);
      const spans = await collector.trace(traceId!, ['POST /api/v1/artifacts/sync', 'agent teller']);
      expect(one(spans, 'POST /api/v1/artifacts/sync').parentSpanId).toBeUndefined();
    }
    expect(collector.spans.filter(({ traceId }) => traceId === unsampled)).toEqual([]);
  });

  it('reading has no span', async () => {
    await board.http
      .get('/api/v1/artifacts')
      .set('traceparent', `00-${'b'.repeat(32)}-${CALLER}-01`)
      .expect(200);
    const correlation = await board.publish('Question', {});
    await collector.trace(await traceOf(correlation), ['POST /api/v1/artifacts', 'agent teller']);
    expect(collector.spans.filter(({ name, traceId }) => name.startsWith('GET') || traceId === 'b'.repeat(32))).toEqual(
      [],
    );
  });
});

/** Uses the app, stopped and started again on its database. The clock is faked. */
it('a retry after a restart is in the trace, and unfinished spans are sent before the end', async () => {
  const collector = await TraceCollector.start();
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  // No span is sent before the process ends.
  const tracing = { ...collector.variables(), OTEL_BSP_SCHEDULE_DELAY: '600000' };
  const start = (): Promise<Board> =>
    Board.start(CONFIG.replace('delay: 1ms', 'delay: 5m'), {
      files: FILES,
      folder: folder.path,
      clock,
      tracing,
      settings: { shutdownGraceMs: 0 },
    });
  let board = await start();
  try {
    const correlation = await board.publish('Order', {}, { correlation: 'restarted' });
    await eventually('the first attempt has failed', () =>
      board.app.logLines.some(({ outcome }) => outcome === 'retried'),
    );
    await board.close();
    const [first, request] = ['agent checker', 'POST /api/v1/artifacts'].map((name) => one(collector.spans, name)) as [
      CollectedSpan,
      CollectedSpan,
    ];

    board = await start();
    clock.advance(10 * 60_000);
    await board.ended(correlation);
    await board.close();
    const spans = await collector.trace(request.traceId, ['POST /api/v1/artifacts', ...CASCADE.slice(1)]);
    const second = one(spans, 'agent checker', 2);
    expect([first.parentSpanId, second.parentSpanId, one(spans, 'agent packer').parentSpanId]).toEqual([
      request.spanId,
      request.spanId,
      second.spanId,
    ]);
  } finally {
    await board.close();
    await board.app.database.drop();
    folder.remove();
    await collector.close();
  }
});
