import { type Selectable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import type { ExecutionsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import { isInState } from '../../queue/state-predicate.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import type { QueueValues } from '../matching/queue-values.js';

/** An execution that waits until the keys of its limits are computed. */
const withoutKeys = (db: Reader, id: string) =>
  db
    .selectFrom('executions')
    .where('executions.id', '=', id)
    .where(isInState('pending'))
    .where('available_at', '=', NEVER)
    .where('blocked_on', 'is', null)
    .where('limit_keys', 'is', null);

/** `bytes`: the size of its inputs. */
export const findWithoutKeys = (
  db: Reader,
  id: string,
): Promise<
  | {
      seq: number;
      agent: string;
      subscription: number;
      correlation_id: string;
      replay: number;
      batch: number;
      bytes: number;
    }
  | undefined
> =>
  withoutKeys(db, id)
    .select(['executions.seq', 'agent', 'subscription', 'executions.correlation_id', 'executions.replay', 'batch'])
    .select(({ selectFrom }) =>
      selectFrom('execution_inputs')
        .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
        .select(sql<number>`coalesce(sum(octet_length(artifacts.payload)), 0)`.as('bytes'))
        .whereRef('execution_inputs.execution_id', '=', 'executions.id')
        .$asScalar()
        .$notNull()
        .as('bytes'),
    )
    .executeTakeFirst();

/** Locks the execution. */
export const holdWithoutKeys = (tx: Transaction, id: string) =>
  locking(
    tx.db,
    withoutKeys(tx.db, id).select([
      'executions.id',
      'agent as queue',
      'agent',
      'configuration',
      'correlation_id',
      'attempt',
      'round',
      'direct',
      'replay',
      'limit_keys',
    ]),
    { wait: true },
  ).executeTakeFirst();

/** In the order in which the agent sees them. */
export const findInputArtifacts = (db: Reader, executionId: string): Promise<ArtifactRow[]> =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .selectAll('artifacts')
    .where('execution_inputs.execution_id', '=', executionId)
    .orderBy('execution_inputs.position')
    .execute();

/** The columns that keep an execution from being claimed while it waits for its turn of `singleton`. */
export type TurnPlace = Pick<Selectable<ExecutionsTable>, 'available_at' | 'blocked_on' | 'singleton_waits'>;

/** Makes the execution claimable, or lets it wait at `place`. Returns its agent; undefined if it no longer waits for its keys. */
export async function setQueueValues(
  tx: Transaction,
  id: string,
  { priority, ...columns }: QueueValues,
  place: TurnPlace,
): Promise<string | undefined> {
  const row = await tx.db
    .updateTable('executions')
    .set({ ...columns, ...(priority !== null && { priority }), ...place })
    .where('id', '=', id)
    .where(isInState('pending'))
    .where('available_at', '=', NEVER)
    .where('blocked_on', 'is', null)
    .where('limit_keys', 'is', null)
    .returning('agent')
    .executeTakeFirst();
  return row?.agent;
}
