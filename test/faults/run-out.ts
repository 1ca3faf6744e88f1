import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/**
 * Resolves when the leases of the killed process's imports have expired. Beside other processes the next start waits
 * for that; on a SQLite file, which has one process, it takes them over immediately.
 */
export async function importLeasesRunOut(database: TestDatabase): Promise<void> {
  if (TEST_DATABASE === 'sqlite') return;
  await eventually('the leases of the killed process have run out', async () => {
    const held = await database.rows(`select id from batches where import_until >= ${Date.now()}`);
    return held.length === 0;
  });
}
