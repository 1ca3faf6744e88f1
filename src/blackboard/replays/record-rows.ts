import { type Selectable, sql } from 'kysely';

import { preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { ExecutionAttemptsTable, ExecutionsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { insertAttempts } from '../execution/ended-rows.js';

export type RecordedExecution = Selectable<ExecutionsTable>;

/** Finds the first artifacts of a correlation, in the order of publishing. */
export const findRecordedArtifacts = (db: Reader, correlationId: string, limit: number): Promise<ArtifactRow[]> =>
  db
    .selectFrom('artifacts')
    .selectAll()
    .where('correlation_id', '=', correlationId)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Returns the bytes of the payloads of a correlation. */
export async function findRecordedBytes(db: Reader, correlationId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('artifacts')
    .select(sql<number>`coalesce(sum(octet_length(payload)), 0)`.as('bytes'))
    .where('correlation_id', '=', correlationId)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

export const findRecordedExecutions = (db: Reader, correlationId: string): Promise<RecordedExecution[]> =>
  db.selectFrom('executions').selectAll().where('correlation_id', '=', correlationId).orderBy('seq').execute();

/** Whether retention has deleted an execution that used an artifact of the correlation. The uses outlive executions. */
export async function hasLostExecutions(db: Reader, correlationId: string): Promise<boolean> {
  const lost = await db
    .selectFrom('artifacts')
    .innerJoin('consumptions', 'consumptions.artifact_seq', 'artifacts.seq')
    .leftJoin('executions', 'executions.id', 'consumptions.execution_id')
    .select('artifacts.seq')
    .where('artifacts.correlation_id', '=', correlationId)
    .where('executions.id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return lost !== undefined;
}

/** An input of an execution. `correlation_id`: that of the artifact, null if retention has deleted it. */
export interface RecordedInput {
  execution_id: string;
  artifact_seq: number;
  correlation_id: string | null;
}

/** Finds the inputs of the executions of a correlation, each execution's in the order in which its agent sees them. */
export const findRecordedInputs = (db: Reader, correlationId: string): Promise<RecordedInput[]> =>
  db
    .selectFrom('executions')
    .innerJoin('execution_inputs', 'execution_inputs.execution_id', 'executions.id')
    .leftJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['execution_inputs.execution_id', 'execution_inputs.artifact_seq', 'artifacts.correlation_id'])
    .where('executions.correlation_id', '=', correlationId)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position')
    .execute();

/** Finds the uses of artifacts of a correlation as inputs of executions of others. */
export const findUsesElsewhere = (
  db: Reader,
  correlationId: string,
): Promise<{ agent: string; subscription: number; artifact_seq: number }[]> =>
  db
    .selectFrom('artifacts')
    .innerJoin('execution_inputs', 'execution_inputs.artifact_seq', 'artifacts.seq')
    .innerJoin('executions', 'executions.id', 'execution_inputs.execution_id')
    .select(['executions.agent', 'executions.subscription', 'execution_inputs.artifact_seq'])
    .where('artifacts.correlation_id', '=', correlationId)
    .where('executions.correlation_id', '<>', correlationId)
    .where('executions.replay', '=', 0)
    .execute();

/** Returns when these definitions were first used (epoch ms). */
export const findFirstUses = preparedWithList<object, string, { digest: string; first_used_at: number }>(
  (db, _place, digests) =>
    db.selectFrom('definitions').select(['digest', 'first_used_at']).where('digest', 'in', digests),
);

const findRecordedAttempts = preparedWithList<object, string, Selectable<ExecutionAttemptsTable>>((db, _place, ids) =>
  db.selectFrom('execution_attempts').selectAll().where('execution_id', 'in', ids),
);

/** Copies the earlier attempts of executions. `ids`: those of the copies, keyed by those of the record. */
export async function copyAttempts(db: Reader, ids: ReadonlyMap<string, string>): Promise<void> {
  const attempts = await findRecordedAttempts(db, {}, [...ids.keys()]);
  await insertAttempts(
    db,
    attempts.map((attempt) => ({ ...attempt, execution_id: ids.get(attempt.execution_id)! })),
  );
}

export const insertRecordedExecutions = preparedInsert('executions', [
  'id',
  'agent',
  'subscription',
  'correlation_id',
  'generation',
  'state',
  'direct',
  'replay',
  'batch',
  'priority',
  'background',
  'attempt',
  'round',
  'lost_leases',
  'created_at',
  'started_at',
  'attempt_started_at',
  'ended_at',
  'error_type',
  'error_message',
  'error_cause',
  'error_stack',
  'definition',
  'variant',
]);

export const insertRecordedInputs = preparedInsert('execution_inputs', ['execution_id', 'position', 'artifact_seq']);

export const insertRecordedUses = preparedInsert('consumptions', [
  'artifact_seq',
  'execution_id',
  'consumer',
  'consumed_at',
]);
