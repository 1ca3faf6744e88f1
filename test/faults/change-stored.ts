import { DatabaseSync } from 'node:sqlite';

import { connected } from '../support/postgres-cluster.js';

/** Changes a database directly, without the service. */
export async function changeStored(url: string, ...statements: string[]): Promise<void> {
  if (url.startsWith('postgres')) {
    await connected(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
    return;
  }
  const connection = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 60_000 });
  connection.exec(statements.join(';'));
  connection.close();
}
