import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { Service } from '../support/service.js';

const CONFIG = `
types: { Order: { schema: { type: object } } }
agents:
  worker: { consumes: [{ types: [Order] }], publishes: [{ type: Receipt }], engine: { kind: function, module: ./done.js } }
`;
const AWAY_MS = 24_000;
const SPAN_MS = 6_000;

/** A proxy in front of a Postgres server, which can close all connections and refuse new ones. */
class Gate {
  /** When a connection was refused (ms of `performance.now`). */
  readonly refusals: number[] = [];
  private isShut = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async before(databaseUrl: string): Promise<Gate> {
    const { hostname, port } = new URL(databaseUrl);
    const server = createServer((client) => gate.pass(client, () => connect(Number(port || 5_432), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gate = new Gate(server, Object.assign(new URL(databaseUrl), { host }).href);
    return gate;
  }

  shut(): void {
    this.isShut = true;
    this.sockets.forEach((socket) => socket.destroy());
  }

  open(): void {
    this.isShut = false;
  }

  close(): void {
    this.server.close();
    this.shut();
  }

  private pass(client: Socket, toServer: () => Socket): void {
    client.on('error', () => client.destroy());
    if (this.isShut) {
      this.refusals.push(performance.now());
      client.destroy();
      return;
    }
    const server = toServer();
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

/** Runs the built program against a real server. */
describe('a service whose database is away', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let gate: Gate;
  let service: Service;

  beforeAll(async () => {
    database = await databaseOf(folder.path);
    gate = await Gate.before(database.url);
    folder.write('done.js', QUEUED['done.js']);
    const config = folder.write('starling.yaml', CONFIG);
    service = await Service.start(['--config', config, '--database-url', gate.url, '--log-level', 'error']);
  });

  afterAll(async () => {
    await service?.kill();
    gate?.close();
    await database?.drop();
    folder.remove();
  });

  it('connects no more often the longer it is away, and works when it is back', async () => {
    gate.shut();
    const since = performance.now();
    await eventually('the database was away for long', () => (gate.refusals.at(-1) ?? 0) > since + AWAY_MS);
    const between = (from: number, to: number): number =>
      gate.refusals.filter((at) => at >= since + from && at < since + to).length;
    const [early, late] = [between(SPAN_MS, 2 * SPAN_MS), between(AWAY_MS - SPAN_MS, AWAY_MS)];
    console.log(`${early} connections in the second ${SPAN_MS} ms, ${late} in the last`);
    expect(early).toBeGreaterThan(0);
    expect(late).toBeLessThan(1.2 * early);
    gate.open();
    await eventually('an order is executed', async () => {
      const response = await fetch(`${service.url}/api/v1/artifacts/sync`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ type: 'Order', payload: {} }),
      });
      return response.status === 200;
    });
  });
});
