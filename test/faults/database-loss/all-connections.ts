import pg from 'pg';

import { eventually } from '../../support/eventually.js';
import { type PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';

const TOO_MANY_CONNECTIONS = '53300';

/** Sessions that occupy every connection that the server grants. */
export class AllConnections {
  private readonly clients: pg.Client[] = [];

  private constructor(private readonly cluster: PostgresCluster) {}

  /** Takes the free ones. */
  static async take(cluster: PostgresCluster): Promise<AllConnections> {
    const all = new AllConnections(cluster);
    await all.takeFree();
    return all;
  }

  /** Takes those of the service too. */
  async takeFromService(): Promise<void> {
    const [first] = this.clients;
    await eventually('the service has no connection left', async () => {
      const { rowCount } = await first!.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'starling'`,
      );
      await this.takeFree();
      return rowCount === 0;
    });
  }

  async release(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.end()));
    await eventually(
      'the server grants connections again',
      async () => (await queryOnce(this.cluster.url(), 'select 1')).length === 1,
    );
  }

  private async takeFree(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: this.cluster.url() });
      client.on('error', () => undefined);
      try {
        await client.connect();
      } catch (error) {
        if ((error as { code?: string }).code === TOO_MANY_CONNECTIONS) return;
        throw error;
      }
      this.clients.push(client);
    }
  }
}
