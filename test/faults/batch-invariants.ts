import { jsonField, type Rows, type TestDatabase } from '../support/database.js';
import { type BatchLedger, FIRST_TWIN, ROWS } from './batch-ledger.js';
import { integrity } from './integrity.js';

/** Returns one line for each broken invariant that applies at any time, except while a batch is imported. */
export const breaches = (database: TestDatabase, ledger: BatchLedger): Promise<string[]> =>
  database.look(async (rows) => [
    ...(await integrity(rows)),
    ...(await leftovers(rows)),
    ...(await made(rows, ledger)),
    ...(await wholeness(rows)),
    ...(await doubles(rows)),
    ...(await counts(rows)),
  ]);

/** Returns the broken invariants that apply when every batch has finished. */
export const unfinished = (database: TestDatabase): Promise<string[]> =>
  database.look(async (rows) => [
    ...(
      await rows<{ id: string; status: string }>(
        `select id, status from batches where status <> 'completed' or succeeded_items <> ${ROWS}`,
      )
    ).map(({ id, status }) => `batch ${id} is ${status}, or not all of it was completed`),
    ...(
      await rows<{ id: string; attempt: number }>(
        `select id, attempt from executions where state <> 'completed' or attempt <> 1`,
      )
    ).map(({ id, attempt }) => `execution ${id} was not completed, or not in its first attempt (${attempt})`),
    ...(
      await rows<{ batch: number; position: number }>(
        `select batch_seq as batch, position from batch_rows r where repeats is null and not exists (select 1 from artifacts a where a.correlation_id = r.run_id and a.type = 'Done')`,
      )
    ).map(({ batch, position }) => `row ${position} of batch ${batch} has no output`),
  ]);

/** Returns what a kill has left: whether a batch was half imported, and how many runs were open. */
export const stateOf = (database: TestDatabase): Promise<{ isHalfIn: boolean; openRuns: number }> =>
  database.look(async (rows) => ({
    isHalfIn: (await rows(`select id from batches where status = 'importing'`)).length > 0,
    openRuns: (await rows(`select id from runs where status = 'running'`)).length,
  }));

/** Returns how many rows are stored of a batch that is not fully imported. */
export async function rowsComingIn(database: TestDatabase): Promise<number> {
  const importing = `select seq from batches where status = 'importing'`;
  const [found] = await database.rows<{ count: number }>(
    `select count(*) as count from batch_rows where batch_seq in (${importing})`,
  );
  return found!.count;
}

/** Returns every batch, by its name in the ledger. */
export const batchIds = async (database: TestDatabase): Promise<Map<string, string>> =>
  new Map((await named(database.rows)).map(({ name, id }) => [name, id]));

const named = (rows: Rows): Promise<{ id: string; name: string }[]> =>
  rows(`select id, ${jsonField('static_inputs', 'batch')} as name from batches`);

const leftovers = async (rows: Rows): Promise<string[]> => [
  ...(await rows<{ id: string }>(`select id from batches where status = 'importing'`)).map(
    ({ id }) => `batch ${id} is still half in`,
  ),
  ...(
    await rows<{ seq: number }>(
      'select distinct batch_seq as seq from batch_rows where batch_seq not in (select seq from batches)',
    )
  ).map(({ seq }) => `there are rows of batch ${seq}, which does not exist`),
  ...(await rows<{ seq: number }>('select distinct batch_seq as seq from batch_keys')).map(
    ({ seq }) => `there are row keys of batch ${seq}`,
  ),
];

/** Checks that each acknowledged batch exists once, under the id that was answered, and every other at most once. */
async function made(rows: Rows, ledger: BatchLedger): Promise<string[]> {
  const byName = Map.groupBy(await named(rows), ({ name }) => name);
  return [
    ...[...byName].filter(([, batches]) => batches.length > 1).map(([name]) => `${name} was made twice`),
    ...[...byName.keys()].filter((name) => !ledger.orders.has(name)).map((name) => `${name} was never sent`),
    ...[...ledger.acknowledged]
      .filter(([name, id]) => byName.get(name)?.[0]?.id !== id)
      .map(([name, id]) => `${name} was acknowledged as ${id} and is lost`),
  ];
}

async function wholeness(rows: Rows): Promise<string[]> {
  const number = `cast(${jsonField('r.inputs', 'n')} as integer)`;
  const broken = await rows<{ seq: number }>(
    `select b.seq from batches b left join batch_rows r on r.batch_seq = b.seq group by b.seq, b.total_items
     having b.total_items <> ${ROWS} or count(r.position) <> ${ROWS} or min(r.position) <> 0 or max(r.position) <> ${ROWS - 1}
       or count(r.problem) > 0
       or count(*) filter (where r.repeats is null and ${number} is distinct from r.position) > 0
       or count(*) filter (where r.repeats is null and ${jsonField('r.inputs', 'text')} is distinct from 'a, "b"\n' || cast(r.position as text)) > 0
       or count(r.repeats) not in (0, ${ROWS - FIRST_TWIN})
       or count(*) filter (where r.repeats <> r.position - ${FIRST_TWIN}) > 0
       or sum(r.copies) <> count(r.repeats)`,
  );
  return broken.map(({ seq }) => `batch ${seq} is not whole, or not in order`);
}

/** An expired lease repeats an execution and creates no other one. */
async function doubles(rows: Rows): Promise<string[]> {
  const row = `${jsonField('payload', 'batch')} as batch, ${jsonField('payload', 'n')} as n, count(*) as count`;
  const twice = (from: string): Promise<{ batch: string; n: string; count: number }[]> =>
    rows(`select ${row} from ${from} group by 1, 2 having count(*) > 1`);
  return [
    ...(await twice(`artifacts where type = 'Done'`)).map(
      ({ batch, n, count }) => `row ${n} of ${batch} has ${count} outputs`,
    ),
    ...(await twice(`artifacts a join executions e on e.correlation_id = a.correlation_id where a.type = 'Row'`)).map(
      ({ batch, n, count }) => `row ${n} of ${batch} has ${count} executions`,
    ),
    ...(
      await rows<{ id: string }>(
        'select id from runs where id not in (select run_id from batch_rows where run_id is not null)',
      )
    ).map(({ id }) => `run ${id} belongs to no row`),
  ];
}

async function counts(rows: Rows): Promise<string[]> {
  const differing = await rows<{ id: string }>(
    `select b.id from batches b left join runs r on r.batch_id = b.id group by b.id, b.succeeded_items, b.running_runs, b.failed_items
     having b.succeeded_items <> coalesce(sum(r.batch_items) filter (where r.status = 'completed'), 0)
       or b.running_runs <> count(*) filter (where r.status = 'running') or b.failed_items <> 0`,
  );
  return differing.map(({ id }) => `the counts of batch ${id} differ from its runs`);
}
