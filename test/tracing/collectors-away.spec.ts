import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Board } from '../e2e/board.js';
import { eventually } from '../support/eventually.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

const QUICK = { OTEL_BSP_SCHEDULE_DELAY: '10' };

const warnings = (board: Board): unknown[] =>
  board.app.logLines.filter(({ level }) => (level as number) >= 40).map(({ msg }) => msg);

const LOST = 'traces cannot be sent and are dropped; check the collector at OTEL_EXPORTER_OTLP_ENDPOINT';

/** Uses the app, the SDK and its exporter. Each test says what replaces the collector. */
describe('a collector that is away', () => {
  let server: Server;
  let requests = 0;
  /** With undefined, it never answers. */
  let status: number | undefined;
  const unanswered: ServerResponse[] = [];

  beforeEach(async () => {
    requests = 0;
    server = createServer((request, response) => {
      requests += 1;
      request.resume();
      if (status === undefined) unanswered.push(response);
      else response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  const port = (): number => (server.address() as AddressInfo).port;

  /** A refusal drops the waiting spans; a broken connection would be retried. */
  async function stop(): Promise<void> {
    status = 400;
    await Promise.all(
      unanswered.splice(0).map((response) => new Promise<void>((resolve) => void response.writeHead(400).end(resolve))),
    );
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  afterEach(() => (server.listening ? stop() : undefined));

  const start = (more: Record<string, string> = {}): Promise<Board> =>
    Board.start(CONFIG, { tracing: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port()}`, ...QUICK, ...more } });

  async function worksOn(board: Board): Promise<void> {
    for (let n = 0; n < 20; n += 1)
      expect((await board.publishSync('Order', { n })).artifacts.map(({ payload }) => payload)).toEqual([{ n }]);
  }

  it('and refuses connections disturbs nothing, and is logged once', async () => {
    const board = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    await stop();
    await worksOn(board);
    await eventually('it is logged', () => warnings(board).length > 0);
    await worksOn(board);
    await board.close();
    expect(warnings(board)).toEqual([LOST]);
  });

  it('and refuses traces is logged once, and once when it accepts them again', async () => {
    status = 400;
    const board = await start();
    await eventually('it has refused several times', async () => {
      await worksOn(board);
      return requests > 2;
    });
    status = 200;
    await worksOn(board);
    await eventually('it accepts them again', () =>
      board.app.logLines.some(({ msg }) => msg === 'traces are sent again'),
    );
    await board.close();
    expect(warnings(board)).toEqual([LOST]);
  });

  it('and never answers delays neither work nor the stop', async () => {
    status = undefined;
    const board = await start({
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_EXPORT_TIMEOUT: '600000',
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
    });
    await worksOn(board);
    await eventually('it was asked', () => requests > 0);
    const began = performance.now();
    await board.close();
    // Three seconds, and the delay of a busy machine; the collector may take ten minutes.
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});
