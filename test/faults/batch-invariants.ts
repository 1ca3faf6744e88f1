import { DatabaseSync } from 'node:sqlite';
import { type BatchLedger, FIRST_TWIN, ROWS } from './batch-ledger.js';

type Rows = <T>(sql: string) => T[];

/** What must hold at any time, except while a batch is coming in; one line for each breach. */
export const breaches = (path: string, ledger: BatchLedger): string[] =>
  inspect(path, (rows) => [...integrity(rows), ...leftovers(rows), ...made(rows, ledger), ...wholeness(rows), ...doubles(rows), ...counts(rows)]);

/** What must hold besides when every batch has ended. */
export const unfinished = (path: string): string[] =>
  inspect(path, (rows) => [
    ...rows<{ id: string; status: string }>(`select id, status from batches where status <> 'completed' or succeeded_items <> ${ROWS}`).map(
      ({ id, status }) => `batch ${id} is ${status}, or not all of it was completed`,
    ),
    ...rows<{ id: string; attempt: number }>(`select id, attempt from executions where state <> 'completed' or attempt <> 1`).map(
      ({ id, attempt }) => `execution ${id} was not completed, or not in its first attempt (${attempt})`,
    ),
    ...rows<{ batch: number; position: number }>(
      `select batch_seq as batch, position from batch_rows r where repeats is null and not exists (select 1 from artifacts a where a.correlation_id = r.run_id and a.type = 'Done')`,
    ).map(({ batch, position }) => `row ${position} of batch ${batch} has no output`),
  ]);

/** What a kill has left behind: whether a batch was half in, and how many runs were open. */
export const stateOf = (path: string): { isHalfIn: boolean; openRuns: number } =>
  inspect(path, (rows) => ({
    isHalfIn: rows(`select id from batches where status = 'intake'`).length > 0,
    openRuns: rows(`select id from runs where status = 'running'`).length,
  }));

/** How much of a batch is in that is not in yet. */
export const rowsComingIn = (path: string): number =>
  inspect(path, (rows) => rows<{ count: number }>(`select count(*) as count from batch_rows where batch_seq in (select seq from batches where status = 'intake')`)[0]!.count);

/** Every batch, by the name that it has in the ledger. */
export const batchIds = (path: string): Map<string, string> => inspect(path, (rows) => new Map(named(rows).map(({ name, id }) => [name, id])));

const named = (rows: Rows): { id: string; name: string }[] =>
  rows(`select id, json_extract(static_inputs, '$.batch') as name from batches`);

function inspect<T>(path: string, look: (rows: Rows) => T): T {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    // The service goes on meanwhile: all questions are asked of one moment.
    database.exec('begin');
    return look(<Row>(sql: string) => database.prepare(sql).all() as Row[]);
  } finally {
    database.close();
  }
}

function integrity(rows: Rows): string[] {
  const [{ integrity_check: result }] = rows<{ integrity_check: string }>('pragma integrity_check') as [{ integrity_check: string }];
  return result === 'ok' ? [] : [`integrity_check: ${result}`];
}

const leftovers = (rows: Rows): string[] => [
  ...rows<{ id: string }>(`select id from batches where status = 'intake'`).map(({ id }) => `batch ${id} is still half in`),
  ...rows<{ seq: number }>('select distinct batch_seq as seq from batch_rows where batch_seq not in (select seq from batches)').map(
    ({ seq }) => `there are rows of batch ${seq}, which does not exist`,
  ),
  ...rows<{ seq: number }>('select distinct batch_seq as seq from batch_keys').map(({ seq }) => `there are row keys of batch ${seq}`),
];

/** Each acknowledged batch once, under the id that was answered; every other at most once. */
function made(rows: Rows, ledger: BatchLedger): string[] {
  const byName = Map.groupBy(named(rows), ({ name }) => name);
  return [
    ...[...byName].filter(([, batches]) => batches.length > 1).map(([name]) => `${name} was made twice`),
    ...[...byName.keys()].filter((name) => !ledger.orders.has(name)).map((name) => `nobody sent ${name}`),
    ...[...ledger.acknowledged].filter(([name, id]) => byName.get(name)?.[0]?.id !== id).map(([name, id]) => `${name} was acknowledged as ${id} and is lost`),
  ];
}

const wholeness = (rows: Rows): string[] =>
  rows<{ seq: number }>(
    `select b.seq from batches b left join batch_rows r on r.batch_seq = b.seq group by b.seq
     having b.total_items <> ${ROWS} or count(r.position) <> ${ROWS} or min(r.position) <> 0 or max(r.position) <> ${ROWS - 1}
       or sum(r.problem is not null) > 0
       or sum(r.repeats is null and json_extract(r.inputs, '$.n', '$.text') <> json_array(r.position, 'a, "b"' || char(10) || r.position)) > 0
       or sum(r.repeats is not null) not in (0, ${ROWS - FIRST_TWIN})
       or sum(r.repeats is not null and r.repeats <> r.position - ${FIRST_TWIN}) > 0
       or sum(r.copies) <> sum(r.repeats is not null)`,
  ).map(({ seq }) => `batch ${seq} is not whole, or not in order`);

/** A lost lease repeats an execution and makes no other one. */
const doubles = (rows: Rows): string[] => [
  ...rows<{ batch: string; n: number; count: number }>(
    `select json_extract(payload, '$.batch') as batch, json_extract(payload, '$.n') as n, count(*) as count from artifacts where type = 'Done' group by 1, 2 having count(*) > 1`,
  ).map(({ batch, n, count }) => `row ${n} of ${batch} has ${count} outputs`),
  ...rows<{ batch: string; n: number; count: number }>(
    `select json_extract(payload, '$.batch') as batch, json_extract(payload, '$.n') as n, count(*) as count
     from artifacts a join executions e on e.correlation_id = a.correlation_id where a.type = 'Row' group by 1, 2 having count(*) > 1`,
  ).map(({ batch, n, count }) => `row ${n} of ${batch} has ${count} executions`),
  ...rows<{ id: string }>('select id from runs where id not in (select run_id from batch_rows where run_id is not null)').map(({ id }) => `run ${id} belongs to no row`),
];

const counts = (rows: Rows): string[] =>
  rows<{ id: string }>(
    `select b.id from batches b left join runs r on r.batch_id = b.id group by b.id
     having b.succeeded_items <> total(iif(r.status = 'completed', r.batch_items, 0)) or b.running_runs <> total(r.status = 'running') or b.failed_items <> 0`,
  ).map(({ id }) => `the counts of batch ${id} differ from its runs`);
