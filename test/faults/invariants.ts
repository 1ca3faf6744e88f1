import { jsonField, type Rows, type TestDatabase } from '../support/database.js';
import { integrity } from './integrity.js';

/** The artifacts that each order must result in, except audits, which belong to one of several orders. */
export const EXPECTED: Record<string, number> = {
  Order: 1,
  Price: 1,
  Parcel: 3,
  Shipment: 1,
  Label: 3,
  Checked: 3,
  Stamp: 1,
  File: 1,
  Seal: 3,
};

/** The artifacts of the warehouse, and of the simulation's agents beside it, that belong to no order. */
export const OTHERS = [
  'Audit',
  'Left',
  'Right',
  'Match',
  'Row',
  'Done',
  'Nap',
  'Slept',
  'Trip',
  'Arrival',
  'Plea',
  'Approval',
  'Leap',
  'Landing',
  'Topic',
  'Essay',
  'Load',
  'Keep',
  'Sync',
  'Weight',
  'Frame',
  'Wheel',
  'Straw',
  'Crate',
  'Skip',
  'Renew',
  'Edit',
  'Letter',
  'Parcels',
  'Recall',
  'Text',
  'Question',
  'Change',
  'Hold',
  'Rival',
  'Queue',
  'Handled',
  'Case',
  'Verdict',
];

/** Agents of the simulation whose attempts it checks itself. */
const FAILING = [
  'courier',
  'approver',
  'writer',
  'loader',
  'keeper',
  'syncer',
  'weigher',
  'assembler',
  'baler',
  'mover',
  'sender',
  'changer',
  'holder',
  'rival',
  'queuer',
];

/** Correlations of the simulation whose executions may fail for good: those of leaps are retried, and budgets end. */
export const MAY_NOT_FAIL = `correlation_id not like 'Leap-%' and correlation_id not like 'Topic-%'`;

/** Replays may be cancelled. */
const IS_CANCELLED_REPLAY = `(origin is not null and state = 'cancelled')`;
const OF_CANCELLED_REPLAY = `correlation_id in (select id from correlations where ${IS_CANCELLED_REPLAY})`;

/** Orders by their correlation ids. */
type Acknowledged = { readonly acknowledged: ReadonlyMap<string, unknown> };

/** Returns one line for each broken invariant of the database of a service with no work left. */
export const breaches = (database: TestDatabase, ledger: Acknowledged): Promise<string[]> =>
  database.look((rows) => breachesIn(rows, ledger));

export const breachesIn = async (rows: Rows, ledger: Acknowledged): Promise<string[]> => [
  ...(await settledBreaches(rows)),
  ...(await lost(rows, ledger)),
  ...(await wholeness(rows)),
  ...(await audits(rows)),
  ...(await attempts(rows)),
];

/** Returns the broken invariants that apply at any time, also while work is left. */
export const duringWork = async (rows: Rows, ledger: Acknowledged): Promise<string[]> => [
  ...(await integrity(rows)),
  ...(await lost(rows, ledger)),
  ...(await countsOf(rows)),
  ...(await termsOf(rows)),
];

/** Checks that do not depend on the agents. */
export const settledBreaches = async (rows: Rows): Promise<string[]> => [
  ...(await integrity(rows)),
  ...(await unended(rows)),
  ...(await pendingOf(rows)),
  ...(await countsOf(rows)),
  ...(await termsOf(rows)),
];

async function lost(rows: Rows, ledger: Acknowledged): Promise<string[]> {
  const orders = await rows<{ correlation_id: string }>(`select correlation_id from artifacts where type = 'Order'`);
  const stored = new Set(orders.map((row) => row.correlation_id));
  return [...ledger.acknowledged.keys()].filter((id) => !stored.has(id)).map((id) => `acknowledged and lost: ${id}`);
}

async function wholeness(rows: Rows): Promise<string[]> {
  const found = new Map<string, Record<string, number>>();
  for (const { correlation_id, type, count } of await rows<{ correlation_id: string; type: string; count: number }>(
    `select correlation_id, type, count(*) as count from artifacts where type not in (${OTHERS.map((type) => `'${type}'`).join()}) and ${MAY_NOT_FAIL} and not ${OF_CANCELLED_REPLAY} group by correlation_id, type`,
  )) {
    found.set(correlation_id, { ...found.get(correlation_id), [type]: count });
  }
  return [...found].flatMap(([id, types]) =>
    [...new Set([...Object.keys(types), ...Object.keys(EXPECTED)])]
      .filter((type) => (types[type] ?? 0) !== (EXPECTED[type] ?? 0))
      .map((type) => `${id} has ${types[type] ?? 0} ${type}, not ${EXPECTED[type] ?? 0}`),
  );
}

async function audits(rows: Rows): Promise<string[]> {
  const shipments = await rows<{ n: string }>(
    `select ${jsonField('payload', 'n')} as n from artifacts where type = 'Shipment' and replay = 0`,
  );
  const reports = await rows<{ payload: string }>(`select payload from artifacts where type = 'Audit' and replay = 0`);
  const shipped = shipments.map(({ n }) => Number(n));
  const audited = reports.flatMap(({ payload }) => (JSON.parse(payload) as { audited: number[] }).audited);
  return [
    ...shipped.filter((n) => !audited.includes(n)).map((n) => `shipment ${n} was never audited`),
    ...audited.filter((n, index) => audited.indexOf(n) !== index).map((n) => `shipment ${n} was audited twice`),
  ];
}

/** Returns the work that has not ended, and the correlations that did not complete. */
export const unended = async (rows: Rows): Promise<string[]> => [
  ...(
    await rows<{ id: string; state: string }>(`select id, state from executions where state in ('pending', 'running')`)
  ).map(({ id, state }) => `execution ${id} is still ${state}`),
  // Naps exist to be cancelled.
  ...(
    await rows<{ id: string; state: string }>(
      `select id, state from correlations where state <> 'completed' and not (id like 'nap-%' and state = 'cancelled')
         and not ${IS_CANCELLED_REPLAY}
         and not ((id like 'Leap-%' or id like 'Topic-%') and state = 'failed')`,
    )
  ).map(({ id, state }) => `correlation ${id} is ${state}`),
  ...(await rows<{ id: string }>('select id from timers')).map(({ id }) => `timer ${id} is left over`),
];

/** Returns the correlations that still count work as pending. */
export const pendingOf = async (rows: Rows): Promise<string[]> =>
  (
    await rows<{ id: string; state: string; pending: number }>(
      'select id, state, pending from correlations where pending <> 0',
    )
  ).map(({ id, state, pending }) => `correlation ${id} is ${state} with ${pending} pending`);

export const countsOf = async (rows: Rows): Promise<string[]> => {
  const differing = await rows<{ id: string }>(
    `select id from correlations c where artifact_count <> (select count(*) from artifacts a where a.correlation_id = c.id)
       or error_count <> (select count(*) from artifacts a where a.correlation_id = c.id and a.type = 'WorkflowError')
       or output_count <> (select count(*) from artifacts a where a.correlation_id = c.id and a.type <> 'WorkflowError' and a.produced_by not in ('external', 'schedule'))`,
  );
  return differing.map(({ id }) => `the counts of ${id} differ from its artifacts`);
};

/**
 * Returns what `correlation_terms` lacks of the artifacts and executions that its rollups have read, and what it has too
 * much. Types and tags of deleted artifacts may remain.
 */
export const termsOf = async (rows: Rows): Promise<string[]> => {
  const reached = (rollup: string): string => `coalesce((select up_to_seq from rollups where name = '${rollup}'), 0)`;
  const needed = `select 'type' as kind, type as value, correlation_id as id from artifacts
      where seq <= ${reached('artifact_terms')}
    union select 'tag', tag, correlation_id from artifact_tags join artifacts on artifacts.seq = artifact_seq
      where artifact_seq <= ${reached('artifact_terms')}
    union select 'agent', agent, correlation_id from executions where seq <= ${reached('execution_terms')}`;
  const missing = await rows<{ id: string; kind: string; value: string }>(
    `select id, kind, value from (${needed}) needed where not exists (
       select 1 from correlations c join correlation_terms t on c.seq = t.correlation_seq and c.started_at = t.started_at
       where c.id = needed.id and t.kind = needed.kind and t.value = needed.value)`,
  );
  const surplus = await rows<{ correlation_seq: number; kind: string; value: string }>(
    `select correlation_seq, kind, value from correlation_terms t where not exists (
       select 1 from correlations c where c.seq = t.correlation_seq)`,
  );
  return [
    ...missing.map(({ id, kind, value }) => `the lists by ${kind} lack ${id} under ${value}`),
    ...surplus.map(({ correlation_seq: seq, kind, value }) => `the lists by ${kind} have number ${seq} under ${value}`),
  ];
};

/** Checks that a crash costs no attempt: only the labeller's own first failure does. */
const attempts = async (rows: Rows): Promise<string[]> => {
  const others = await rows<{ id: string; agent: string; attempt: number }>(
    `select id, agent, attempt from executions where attempt <> case agent when 'labeller' then 2 else 1 end
       and not ${OF_CANCELLED_REPLAY} and agent not in (${FAILING.map((agent) => `'${agent}'`).join()})`,
  );
  return others.map(({ id, agent, attempt }) => `execution ${id} of ${agent} ended in attempt ${attempt}`);
};
