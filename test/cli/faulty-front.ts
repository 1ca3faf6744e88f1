import { createServer, type IncomingMessage, request as forward, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server in front of a service, which answers the first publish with 503, loses the answer of the second, and breaks the
 * first stream after an event. Everything else goes through.
 */
export class FaultyFront {
  /** The idempotency keys of the publishes that arrived. */
  readonly keys: unknown[] = [];
  /** The positions after which streams were requested. */
  readonly positions: unknown[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async start(target: string): Promise<FaultyFront> {
    const server = createServer();
    const front = new FaultyFront(server, target);
    server.on('request', (incoming, response) => front.handle(incoming, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private handle(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    const isPublish = url === '/api/v1/artifacts';
    const isStream = url!.startsWith('/api/v1/changelog/stream');
    if (isPublish) this.keys.push(headers['x-idempotency-key']);
    if (isStream) this.positions.push(headers['last-event-id']);
    if (isPublish && this.keys.length === 1) {
      response.writeHead(503, { 'Retry-After': '0' }).end('{"detail":"try again"}');
      return;
    }
    const losesAnswer = isPublish && this.keys.length === 2;
    const breaks = isStream && this.positions.length === 1;
    let isBroken = false;
    const outgoing = forward(this.target + url, { method, headers }, (answer) => {
      if (losesAnswer) {
        answer.resume().on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on('data', (part: Buffer) => {
        // Further events may be there before the connection is closed.
        if (isBroken) return;
        const event = breaks ? /^[^]*?\ndata: [^\n]*\n\n/.exec(String(part)) : null;
        isBroken = event !== null;
        if (event) response.write(event[0], () => response.destroy());
        else if (!response.destroyed) response.write(part);
      });
      answer.on('end', () => response.end());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
