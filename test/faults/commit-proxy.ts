import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const BEGIN = 'begin\0';
/** In the messages with which the prepared statement `commit` runs. The connection's first one forgets it before. */
const COMMITS = ['Scommit\0', '\0commit\0'];
/** The kind of a message, and its length. */
const HEAD_BYTES = 5;

interface Watched {
  /** Occurs in a statement of the transaction. */
  text: string;
  /** `held`: its commit does not reach the server until `release`. `lost`: no answer of the server arrives any more. */
  fate: 'held' | 'lost';
  reached: () => void;
}

/** A proxy in front of a Postgres server, which stops at the commit of one transaction. */
export class CommitProxy {
  private watched: Watched | null = null;
  private isLost = false;
  private heldBack = (): void => undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** The URL of the database behind the proxy. */
    readonly url: string,
  ) {}

  static async before(databaseUrl: string): Promise<CommitProxy> {
    const { hostname, port } = new URL(databaseUrl);
    const server = createServer((client) => proxy.connect(client, connect(Number(port || 5_432), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = new CommitProxy(server, Object.assign(new URL(databaseUrl), { host }).href);
    return proxy;
  }

  /** Resolves when the transaction with this text commits and its commit is held, or was committed and its answer lost. */
  stopAt(text: string, fate: Watched['fate']): Promise<void> {
    return new Promise((reached) => (this.watched = { text, fate, reached }));
  }

  release(): void {
    this.heldBack();
  }

  close(): void {
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
  }

  private connect(client: Socket, database: Socket): void {
    let stopped: Watched | null = null;
    let isOpen = false;
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
    client.on('data', (data) => {
      isOpen ||= data.includes(BEGIN);
      if (isOpen && this.watched && data.includes(this.watched.text)) [stopped, this.watched] = [this.watched, null];
      const commit = commitIn(data);
      if (commit !== null) isOpen = false;
      if (commit === null || stopped?.fate !== 'held') return void database.write(data);
      database.write(data.subarray(0, commit));
      this.heldBack = () => void database.write(data.subarray(commit));
      stopped.reached();
      stopped = null;
    });
    database.on('data', (data) => {
      if (stopped?.fate === 'lost' && data.includes('COMMIT\0')) {
        this.isLost = true;
        stopped.reached();
      }
      if (!this.isLost) client.write(data);
    });
  }
}

/** Returns where the message begins with which a commit begins. */
function commitIn(data: Buffer): number | null {
  const found = COMMITS.map((text) => data.indexOf(text)).filter((index) => index >= 0);
  return found.length > 0 ? Math.min(...found) - HEAD_BYTES : null;
}
