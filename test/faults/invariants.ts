import { DatabaseSync } from 'node:sqlite';
import type { Ledger } from './ledger.js';

/** For one order: the artifacts that it must end in, audits apart (an audit belongs to one of several orders). */
const EXPECTED: Record<string, number> = { Order: 1, Price: 1, Parcel: 3, Shipment: 1, Label: 3, Checked: 3 };

/** Everything that must hold on the database of a service with no work left; one line for each breach. */
export function breaches(path: string, ledger: Ledger): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = <T>(sql: string): T[] => database.prepare(sql).all() as T[];
    return [
      ...integrity(rows),
      ...lost(rows, ledger),
      ...wholeness(rows),
      ...audits(rows),
      ...unended(rows),
      ...counts(rows),
      ...attempts(rows),
    ];
  } finally {
    database.close();
  }
}

type Rows = <T>(sql: string) => T[];

function integrity(rows: Rows): string[] {
  const [{ integrity_check: result }] = rows<{ integrity_check: string }>('PRAGMA integrity_check') as [{ integrity_check: string }];
  return result === 'ok' ? [] : [`integrity_check: ${result}`];
}

function lost(rows: Rows, ledger: Ledger): string[] {
  const stored = new Set(rows<{ correlation_id: string }>(`select correlation_id from artifacts where type = 'Order'`).map((row) => row.correlation_id));
  return [...ledger.acknowledged.keys()].filter((id) => !stored.has(id)).map((id) => `acknowledged and lost: ${id}`);
}

function wholeness(rows: Rows): string[] {
  const found = new Map<string, Record<string, number>>();
  for (const { correlation_id, type, count } of rows<{ correlation_id: string; type: string; count: number }>(
    `select correlation_id, type, count(*) as count from artifacts where type <> 'Audit' group by correlation_id, type`,
  )) {
    found.set(correlation_id, { ...found.get(correlation_id), [type]: count });
  }
  return [...found].flatMap(([id, types]) =>
    [...new Set([...Object.keys(types), ...Object.keys(EXPECTED)])]
      .filter((type) => (types[type] ?? 0) !== (EXPECTED[type] ?? 0))
      .map((type) => `${id} has ${types[type] ?? 0} ${type}, not ${EXPECTED[type] ?? 0}`),
  );
}

function audits(rows: Rows): string[] {
  const shipped = rows<{ n: number }>(`select json_extract(payload, '$.n') as n from artifacts where type = 'Shipment'`).map(({ n }) => n);
  const audited = rows<{ n: number }>(`select each.value as n from artifacts a, json_each(a.payload, '$.audited') each where a.type = 'Audit'`).map(({ n }) => n);
  return [
    ...shipped.filter((n) => !audited.includes(n)).map((n) => `shipment ${n} was never audited`),
    ...audited.filter((n, index) => audited.indexOf(n) !== index).map((n) => `shipment ${n} was audited twice`),
  ];
}

const unended = (rows: Rows): string[] => [
  ...rows<{ id: string; state: string }>(`select id, state from executions where state not in ('completed', 'failed')`).map(
    ({ id, state }) => `execution ${id} is still ${state}`,
  ),
  ...rows<{ id: string; state: string }>(`select id, state from correlations where state <> 'completed'`).map(
    ({ id, state }) => `correlation ${id} is ${state}`,
  ),
  ...rows<{ id: string }>('select id from timers').map(({ id }) => `timer ${id} is left over`),
];

const counts = (rows: Rows): string[] =>
  rows<{ id: string }>(
    `select id from correlations c where pending <> 0
       or artifact_count <> (select count(*) from artifacts a where a.correlation_id = c.id)
       or error_count <> (select count(*) from artifacts a where a.correlation_id = c.id and a.type = 'WorkflowError')
       or output_count <> (select count(*) from artifacts a where a.correlation_id = c.id and a.type <> 'WorkflowError' and a.produced_by <> 'external')`,
  ).map(({ id }) => `the counts of ${id} differ from its artifacts`);

/** A crash costs no attempt: only the labeller's own first failure does. */
const attempts = (rows: Rows): string[] =>
  rows<{ id: string; agent: string; attempt: number }>(
    `select id, agent, attempt from executions where attempt <> iif(agent = 'labeller', 2, 1)`,
  ).map(({ id, agent, attempt }) => `execution ${id} of ${agent} ended in attempt ${attempt}`);
