import { unended } from '../faults/invariants.js';
import { databaseOf } from '../support/database.js';
import { deliveriesLeft } from './more-invariants.js';
import { unended as experimentsLeft } from './repeat-invariants.js';

/** Returns what is left of data that is older than it is retained. A half of a pair may wait for the other one forever. */
export async function kept(folder: string): Promise<string[]> {
  const database = await databaseOf(folder);
  const left = await database.rows<{ what: string; count: number }>(
    `select type as what, count(*) as count from artifacts where type not in ('Left', 'Right', 'Frame', 'Wheel') group by 1
     union all select 'executions', count(*) from executions having count(*) > 0
     union all select 'runs', count(*) from runs having count(*) > 0
     union all select 'batches', count(*) from batches having count(*) > 0
     union all select 'experiments', count(*) from experiments having count(*) > 0
     union all select 'trials', count(*) from experiment_trials having count(*) > 0
     union all select 'deliveries', count(*) from deliveries having count(*) > 0`,
  );
  return left.map(({ what, count }) => `${count} ${what} are kept for too long`);
}

/** Returns the work that has not ended. */
export async function workLeft(folder: string): Promise<string[]> {
  const database = await databaseOf(folder);
  const left = await database.look(async (rows) => [
    ...(await unended(rows)),
    ...(await deliveriesLeft(rows)),
    ...(await experimentsLeft(rows)),
  ]);
  // An order that could not be completed is reported as such.
  return left.filter((breach) => !/^correlation .* is (failed|cancelled)$/.test(breach));
}
