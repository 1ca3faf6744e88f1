import { jsonField, type Rows, type TestDatabase } from '../../support/database.js';
import { breachesIn } from '../invariants.js';
import type { Answer, LoadLedger } from './load-ledger.js';
import { BATCH_ROWS, type LoadRequest } from './requests.js';

/** Returns one line for each broken invariant of the database when no work is left. */
export const loadBreaches = (database: TestDatabase, ledger: LoadLedger): Promise<string[]> =>
  database.look(async (rows) => [
    ...(await breachesIn(rows, {
      acknowledged: new Map(
        ledger.acknowledged('order').map(([{ correlationId }, answer]) => [correlationId!, answer]),
      ),
    })),
    ...(await generations(rows)),
    ...(await outputs(rows)),
    ...(await pairs(rows, ledger)),
    ...(await runs(rows, ledger)),
    ...(await naps(rows, ledger)),
    ...(await batches(rows, ledger)),
  ]);

export const bodyOf = <T>({ text }: Answer): T => JSON.parse(text) as T;

const generations = async (rows: Rows): Promise<string[]> =>
  (await rows<{ id: string; generation: number }>('select id, generation from correlations where generation <> 1')).map(
    ({ id, generation }) => `${id} was opened ${generation} times`,
  );

/** Checks that no execution has published more than one commit's outputs, and an incomplete one nothing. */
const outputs = async (rows: Rows): Promise<string[]> => {
  const found = await rows<{ id: string; agent: string; state: string; count: number }>(
    `select e.id, e.agent, e.state, count(a.seq) as count from executions e left join artifacts a on a.execution_id = e.id group by e.id, e.agent, e.state
     having count(a.seq) <> case when e.state <> 'completed' then 0 when e.agent = 'packer' then 3 else 1 end`,
  );
  return found.map(({ id, agent, state, count }) => `execution ${id} of ${agent} is ${state} and has ${count} outputs`);
};

/** Checks that each pair has met once, in whichever order its halves came. */
async function pairs(rows: Rows, ledger: LoadLedger): Promise<string[]> {
  const matches = await countByN(rows, 'Match');
  const sent = [...ledger.sent.keys()].filter(({ kind }) => kind === 'left').map(({ n }) => n);
  return sent.filter((n) => matches.get(n) !== 1).map((n) => `pair ${n} has ${matches.get(n) ?? 0} matches`);
}

/** Checks that each answered run exists, and none twice, with or without a key. */
async function runs(rows: Rows, ledger: LoadLedger): Promise<string[]> {
  const alone = await rows<{ id: string; status: string; n: string; done: number }>(
    `select r.id, r.status, ${jsonField('i.payload', 'n')} as n, (select count(*) from artifacts o where o.correlation_id = r.id and o.type = 'Done') as done
     from runs r join artifacts i on i.correlation_id = r.id and i.type = 'Row' where r.batch_id is null`,
  );
  const byN = Map.groupBy(alone, ({ n }) => Number(n));
  return [
    ...alone
      .filter(({ status, done }) => status !== 'completed' || done !== 1)
      .map(({ id, status, done }) => `run ${id} is ${status} and has ${done} outputs`),
    ...[...byN].filter(([, same]) => same.length > 1).map(([n, same]) => `run ${n} was begun ${same.length} times`),
    ...ledger
      .acknowledged('run')
      .filter(([{ n }, answer]) => byN.get(n)?.[0]?.id !== bodyOf<{ run_id: string }>(answer).run_id)
      .map(([{ n }]) => `run ${n} was acknowledged and is lost, or under another id`),
  ];
}

/** Checks that an answered cancel was applied, and that a cancelled run has published nothing. */
async function naps(rows: Rows, ledger: LoadLedger): Promise<string[]> {
  const found = await rows<{ id: string; status: string; slept: number }>(
    `select r.id, r.status, (select count(*) from artifacts a where a.correlation_id = r.id and a.type = 'Slept') as slept from runs r where r.agent = 'sleeper'`,
  );
  const statuses = new Map(found.map(({ id, status }) => [id, status]));
  return [
    ...found
      .filter(({ status, slept }) => slept !== (status === 'completed' ? 1 : 0))
      .map(({ id, status, slept }) => `${id} is ${status} and has ${slept} outputs`),
    ...found
      .filter(({ id, status }) => status === 'cancelled' && !ledger.cancels.has(id))
      .map(({ id }) => `${id} is cancelled without a request`),
    ...[...ledger.cancels]
      .filter(([id, answer]) => answer === 200 && statuses.get(id) !== 'cancelled')
      .map(([id]) => `${id} is ${statuses.get(id)} though its cancel was answered`),
    ...ledger
      .acknowledged('nap')
      .filter(([{ correlationId }]) => !statuses.has(correlationId!))
      .map(([{ correlationId }]) => `acknowledged and lost: ${correlationId}`),
  ];
}

/**
 * Checks that each answered batch exists once and complete, that every row has run once, and that its end was counted
 * once.
 */
async function batches(rows: Rows, ledger: LoadLedger): Promise<string[]> {
  const found = await rows<{ id: string; name: string; status: string; succeeded: number; open: number }>(
    `select id, status, succeeded_items as succeeded, running_runs as open, ${jsonField('static_inputs', 'batch')} as name from batches`,
  );
  const done = await rows<{ batch: string; outputs: number; distinct: number }>(
    `select ${jsonField('payload', 'batch')} as batch, count(*) as outputs, count(distinct ${jsonField('payload', 'n')}) as distinct
     from artifacts where type = 'Done' and ${jsonField('payload', 'batch')} is not null group by 1`,
  );
  const outputsOf = new Map(done.map((row) => [row.batch, row]));
  const byName = Map.groupBy(found, ({ name }) => name);
  return [
    ...found
      .filter(({ status, succeeded, open }) => status !== 'completed' || succeeded !== BATCH_ROWS || open !== 0)
      .map(
        (batch) => `${batch.name} is ${batch.status} with ${batch.succeeded} items done and ${batch.open} runs open`,
      ),
    ...found
      .filter(({ name }) => outputsOf.get(name)?.outputs !== BATCH_ROWS || outputsOf.get(name)?.distinct !== BATCH_ROWS)
      .map(
        ({ name }) =>
          `${name} has ${outputsOf.get(name)?.outputs ?? 0} outputs of ${outputsOf.get(name)?.distinct ?? 0} rows`,
      ),
    ...[...byName].filter(([, same]) => same.length > 1).map(([name]) => `${name} was made twice`),
    ...ledger
      .acknowledged('batch')
      .filter(
        ([request, answer]) => byName.get(nameOf(request))?.[0]?.id !== bodyOf<{ batch_id: string }>(answer).batch_id,
      )
      .map(([request]) => `${nameOf(request)} was acknowledged and is lost, or under another id`),
  ];
}

const nameOf = ({ n }: LoadRequest): string => `batch-${n}`;

async function countByN(rows: Rows, type: string): Promise<Map<number, number>> {
  const counts = await rows<{ n: string; count: number }>(
    `select ${jsonField('payload', 'n')} as n, count(*) as count from artifacts where type = '${type}' group by 1`,
  );
  return new Map(counts.map(({ n, count }) => [Number(n), count]));
}
