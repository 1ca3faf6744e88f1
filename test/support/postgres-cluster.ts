import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import pg from 'pg';

import type { Answer, Request } from './postgres-server.js';

const USER = 'starling';
const PASSWORD = 'starling';

/** Settings for durability in a crash; suites that crash no server run faster without them. */
export const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * A Postgres server, on a new data folder and a free port of the loopback; stopped with the process that started it.
 */
export class PostgresCluster {
  private readonly child: ChildProcess;
  private readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  /**
   * Settings of the server have their names in postgresql.conf. Rejects with the server's output if it does not start.
   */
  static async start(settings: Record<string, string> = {}): Promise<PostgresCluster> {
    const parts = { user: USER, password: PASSWORD, settings: { max_connections: '200', ...settings } };
    // A separate process group: a signal from the terminal that ends the tests must leave it time to clean up.
    const child = fork(join(import.meta.dirname, 'postgres-server.ts'), [JSON.stringify(parts)], {
      detached: true,
      execArgv: [],
    });
    child.once('exit', () =>
      child.emit('message', { error: 'the process of the Postgres server has ended' } satisfies Answer),
    );
    return new PostgresCluster(child, await portOf(child));
  }

  /** The URL for clients. */
  url(database = 'postgres'): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  /** `fast` closes sessions in an orderly way; `immediate` is a crash, which the next start recovers from. */
  stop(how: 'fast' | 'immediate'): Promise<unknown> {
    return this.ask({ do: 'stop', how });
  }

  /** Starts it again after `stop`, on the same port and folder. Resolves when it accepts connections. */
  restart(): Promise<unknown> {
    return this.ask({ do: 'start' });
  }

  /** Terminates every other session, as an administrator does; returns how many there were. */
  async killSessions(): Promise<number> {
    const sessions = `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    return (await queryOnce(this.url(), sessions)).length;
  }

  /** Stops it, and deletes its folder. */
  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.ref();
    this.child.disconnect();
    await ended;
  }

  private ask(request: Request): Promise<number> {
    this.child.send(request);
    return portOf(this.child);
  }
}

/** Runs `work` on a separate connection. Counts and other bigint come as numbers. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const types = {
    getTypeParser: (type: number) => (type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type)),
  };
  const client = new pg.Client({ connectionString: url, types: types as pg.CustomTypesConfig });
  // Without a listener, the loss of the connection between two queries would end this process. The next query rejects.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export const queryOnce = <T extends object>(url: string, statement: string, values: unknown[] = []): Promise<T[]> =>
  connected(url, async (client) => (await client.query<T>(statement, values)).rows);

/** Returns the next answer. Keeps this process alive until it arrives, and not longer. */
async function portOf(child: ChildProcess): Promise<number> {
  child.ref();
  child.channel?.ref();
  const [answer] = (await once(child, 'message')) as [Answer];
  child.unref();
  child.channel?.unref();
  if ('error' in answer) throw new Error(answer.error);
  return answer.port;
}
