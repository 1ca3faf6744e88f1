import { connected, queryOnce } from '../support/postgres-cluster.js';

/**
 * Changes a database on Postgres directly. Postgres analyzes it before the commit: it counts the pages of new rows, but not
 * the rows, and expects that few rows are on many pages.
 */
export const changeWhileAnalyzed = (url: string, ...statements: string[]): Promise<void> =>
  connected(url, async (client) => {
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    await queryOnce(url, 'analyze');
    await client.query('commit');
  });
