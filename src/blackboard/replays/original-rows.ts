import { sql } from 'kysely';

import { OUTSIDE } from '../../catalog/definitions.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';

/** An artifact that came from outside, without its payload. */
export type ClientArtifact = Pick<ArtifactRow, 'seq' | 'id' | 'type'> & { payload_bytes: number };

const PAYLOAD_BYTES = sql<number>`octet_length(payload)`.as('payload_bytes');

/** Finds the first artifacts of a correlation that came from clients and schedules, in the order of publishing. */
export const findClientArtifacts = (db: Reader, correlationId: string, limit: number): Promise<ClientArtifact[]> =>
  db
    .selectFrom('artifacts')
    .select(['seq', 'id', 'type', PAYLOAD_BYTES])
    .where('correlation_id', '=', correlationId)
    .where('execution_id', 'is', null)
    .where('produced_by', 'in', OUTSIDE)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Counts the artifacts of a correlation that came from clients and schedules. */
export async function countClientArtifacts(db: Reader, correlationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('artifacts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('correlation_id', '=', correlationId)
    .where('execution_id', 'is', null)
    .where('produced_by', 'in', OUTSIDE)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Finds an artifact of anyone, without its payload. */
export const findOrigin = (
  db: Reader,
  id: string,
): Promise<(ClientArtifact & Pick<ArtifactRow, 'correlation_id' | 'execution_id' | 'produced_by'>) | undefined> =>
  db
    .selectFrom('artifacts')
    .select(['seq', 'id', 'type', PAYLOAD_BYTES, 'correlation_id', 'execution_id', 'produced_by'])
    .where('id', '=', id)
    .executeTakeFirst();

/** An execution whose agent a caller named. */
export interface InvokedExecution {
  id: string;
  agent: string;
  subscription: number;
  direct: number;
}

/** Finds the execution of the agent with which a run or a direct run began. */
export const findInvoked = (db: Reader, correlationId: string): Promise<InvokedExecution | undefined> =>
  db
    .selectFrom('executions')
    .select(['id', 'agent', 'subscription', 'direct'])
    .where('correlation_id', '=', correlationId)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('direct', '=', 1),
        exists(selectFrom('runs').select('runs.id').whereRef('runs.execution_id', '=', 'executions.id')),
      ]),
    )
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();

/** The positions of the inputs of an execution, in the order in which its agent sees them. */
export const findInputSeqs = async (db: Reader, executionId: string): Promise<number[]> =>
  (
    await db
      .selectFrom('execution_inputs')
      .select('artifact_seq')
      .where('execution_id', '=', executionId)
      .orderBy('position')
      .execute()
  ).map(({ artifact_seq }) => artifact_seq);
