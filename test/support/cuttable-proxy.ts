import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * A proxy in front of a service, which adds a prefix to its paths. Its connections can be cut, and its address stays the
 * same while another service takes the place of the first one.
 */
export class CuttableProxy {
  private port = 0;

  private constructor(
    private readonly server: Server,
    private readonly prefix: string,
    /** The address of the service. */
    public target: string,
  ) {}

  /** `prefix` is empty or begins with a slash. */
  static async start(target: string, prefix = ''): Promise<CuttableProxy> {
    const server = createServer((incoming, response) => {
      const { hostname, port } = new URL(proxy.target);
      const path = incoming.url!.slice(prefix.length);
      const { method, headers } = incoming;
      const outgoing = forward({ hostname, port, path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        pipeline(answer, response, () => response.destroy());
      });
      incoming.pipe(outgoing);
      response.on('close', () => outgoing.destroy());
      outgoing.on('error', () => response.destroy());
    });
    const proxy = new CuttableProxy(server, prefix, target);
    await proxy.restore();
    return proxy;
  }

  /** Without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}${this.prefix}`;
  }

  /** Closes all connections and accepts none. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** Accepts connections again, on the same port. */
  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }
}
