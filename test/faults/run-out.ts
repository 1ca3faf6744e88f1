import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/**
 * Resolves when nobody may go on with what a killed process was reading in. Beside other processes the next start waits for that, and
 * leaves it alone until then; alone on a SQLite file, it knows that the other one is gone.
 */
export async function importLeasesRunOut(database: TestDatabase): Promise<void> {
  if (TEST_DATABASE === 'sqlite') return;
  await eventually('the leases of the killed process have run out', async () => {
    const held = await database.rows(`select id from batches where import_until >= ${Date.now()}`);
    return held.length === 0;
  });
}
