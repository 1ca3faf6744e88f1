import type { Transaction } from '../../database/unit-of-work.js';

/** An execution and its place in the order in which executions of its agent were queued. */
export interface PlacedExecution {
  id: string;
  seq: number;
}

/** Finds the newest execution with the key that has not ended, other than this one. */
export const findNewestOpen = (
  { db }: Transaction,
  { agent, key, except }: { agent: string; key: string; except: string | null },
): Promise<PlacedExecution | undefined> =>
  db
    .selectFrom('executions')
    .select(['id', 'seq'])
    .where('agent', '=', agent)
    .where('singleton_key', '=', key)
    .where('singleton_key', 'is not', null)
    .where('ended_at', 'is', null)
    .$if(except !== null, (open) => open.where('id', '<>', except!))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Returns the id of the artifact that is the first input of an execution. */
export async function findFirstInput({ db }: Transaction, executionId: string): Promise<string> {
  const { id } = await db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select('artifacts.id')
    .where('execution_inputs.execution_id', '=', executionId)
    .orderBy('execution_inputs.position')
    .limit(1)
    .executeTakeFirstOrThrow();
  return id;
}
