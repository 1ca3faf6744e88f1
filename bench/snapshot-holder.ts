import pg from 'pg';

import { queryOnce } from '../test/support/postgres-cluster.ts';

/** A session that has read and written in a transaction, and leaves it open. */
export class SnapshotHolder {
  private readonly client: pg.Client;
  private readonly url: string;

  private constructor(client: pg.Client, url: string) {
    this.client = client;
    this.url = url;
  }

  static async begin(url: string): Promise<SnapshotHolder> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('create table held (at timestamptz)');
    await client.query('begin isolation level repeatable read');
    await client.query('select count(*) from executions');
    await client.query('insert into held values (now())');
    return new SnapshotHolder(client, url);
  }

  /** Ends it, and returns how many dead rows `executions` had then. Throws if it had lost its snapshot. */
  async end(): Promise<number> {
    const { rows } = await this.client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const [seen] = await queryOnce<{ kept: number; state: string; age: number }>(
      this.url,
      `select state, age(backend_xmin) as age, (select n_dead_tup from pg_stat_user_tables where relname = 'executions') as kept
       from pg_stat_activity where pid = $1`,
      [rows[0]!.pid],
    );
    await this.client.query('rollback');
    await this.client.end();
    if (seen?.state !== 'idle in transaction' || !(seen.age > 0))
      throw new Error(`the snapshot was not held: ${JSON.stringify(seen)}`);
    return seen.kept;
  }
}
