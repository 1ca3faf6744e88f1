import { MAY_NOT_FAIL } from '../faults/invariants.js';
import { jsonField, type Rows } from '../support/database.js';
import type { Receivers } from './receivers.js';

/** Returns what is left to do beside executions and timers, such as deliveries. */
export async function deliveriesLeft(rows: Rows): Promise<string[]> {
  const left = await rows<{ id: string; state: string }>(
    `select id, state from deliveries where state not in ('delivered', 'dead')`,
  );
  return left.map(({ id, state }) => `delivery ${id} is still ${state}`);
}

/** Returns the broken promises about the agents and receivers that only the simulation has. */
export async function moreBreaches(
  rows: Rows,
  { accepted, receivers }: { accepted: ReadonlyMap<string, string>; receivers: Receivers },
): Promise<string[]> {
  const results = await rows<{ id: string; type: string; count: number }>(
    `select correlation_id as id, type, count(*) as count from artifacts where type in ('Arrival', 'Approval', 'Done', 'Landing') group by 1, 2`,
  );
  const counts = new Map(results.map(({ id, type, count }) => [`${id} ${type}`, count]));
  const arrivals = await rows<{ n: string; attempt: string }>(
    `select ${jsonField('payload', 'n')} as n, ${jsonField('payload', 'attempt')} as attempt from artifacts where type = 'Arrival'`,
  );
  const failed = await rows<{ id: string }>(
    `select correlation_id as id from artifacts where type = 'WorkflowError' and ${MAY_NOT_FAIL}`,
  );
  const naps = await rows<{ id: string; state: string; count: number }>(
    `select id, state, (select count(*) from artifacts a where a.correlation_id = c.id and type = 'Slept') as count
     from correlations c where id like 'nap-%'`,
  );
  const owed = await rows<{ id: string; state: string }>('select id, state from deliveries');
  return [
    ...[...accepted]
      .filter(([id, type]) => counts.get(`${id} ${type}`) !== 1)
      .map(([id, type]) => `${id} has ${counts.get(`${id} ${type}`) ?? 0} ${type}, not 1`),
    ...[...counts].filter(([, count]) => count > 1).map(([what, count]) => `${what} exists ${count} times`),
    ...arrivals
      .filter(({ n, attempt }) => Number(attempt) !== (Number(n) % 4) + 1)
      .map(({ n, attempt }) => `trip ${n} arrived in attempt ${attempt}`),
    ...naps
      .filter(({ state, count }) => count !== (state === 'completed' ? 1 : 0))
      .map(({ id, state, count }) => `${id} is ${state} with ${count} Slept`),
    ...failed.map(({ id }) => `${id} has a WorkflowError`),
    ...owed.filter(({ state }) => state === 'dead').map(({ id }) => `delivery ${id} is dead`),
    ...receivers.breaches(owed),
  ];
}
