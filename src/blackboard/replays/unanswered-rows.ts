import { sql } from 'kysely';

import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { locking } from '../../database/dialects/dialect.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { RECORDED, UNANSWERED } from '../correlations/replay-values.js';

const INPUT_BYTES = sql<number>`(
  select coalesce(sum(octet_length(artifacts.payload)), 0)
  from execution_inputs join artifacts on artifacts.seq = execution_inputs.artifact_seq
  where execution_inputs.execution_id = executions.id
)`.as('input_bytes');

const unanswered = (db: Reader, id: string) =>
  db
    .selectFrom('executions')
    .where('executions.id', '=', id)
    .where('executions.replay', '=', UNANSWERED)
    .where(isInState('pending'));

/** An execution of a replay that waits for an answer from the record. */
export type Unanswered = NonNullable<Awaited<ReturnType<typeof findUnanswered>>>;

export const findUnanswered = (db: Reader, id: string) =>
  unanswered(db, id)
    .select(['executions.id', 'agent', 'correlation_id', 'direct', 'batch', 'attempt', 'round', 'configuration'])
    .select(INPUT_BYTES)
    .select(({ selectFrom }) =>
      selectFrom('correlations')
        .select('origin')
        .whereRef('correlations.id', '=', 'executions.correlation_id')
        .$asScalar()
        .$castTo<string>()
        .as('origin'),
    )
    .select(({ selectFrom }) =>
      selectFrom('correlations')
        .select('replay_options')
        .whereRef('correlations.id', '=', 'executions.correlation_id')
        .$asScalar()
        .$castTo<string | null>()
        .as('replay_options'),
    )
    .executeTakeFirst();

/** Locks the execution. */
export const holdUnanswered = (tx: Transaction, id: string) =>
  locking(
    tx.db,
    unanswered(tx.db, id).select([
      'executions.id',
      'agent as queue',
      'agent',
      'configuration',
      'correlation_id',
      'attempt',
      'direct',
      'replay',
      'limit_keys',
    ]),
    { wait: true },
  ).executeTakeFirst();

/** An execution of the original whose answer may be taken. */
export type RecordedAnswer = NonNullable<Awaited<ReturnType<typeof findRecordedAnswer>>>;

/** Finds the execution at this position, if it has ended with an answer. */
export const findRecordedAnswer = (db: Reader, seq: number) =>
  db
    .selectFrom('executions')
    .select(['id', 'state', 'attempt', 'round', 'definition', 'variant'])
    .select(['error_type', 'error_message', 'error_cause', 'error_stack'])
    .where('seq', '=', seq)
    .where(isInState('completed', 'failed'))
    .executeTakeFirst();

/** Finds the executions of an agent in a correlation that have ended with an answer and had one of these definitions. */
export async function findAnsweredSeqs(
  db: Reader,
  { origin, agent, definitions }: { origin: string; agent: string; definitions: readonly string[] },
): Promise<number[]> {
  if (definitions.length === 0) return [];
  // Without order and limit, for which Postgres would read the executions of all correlations.
  const rows = await answered(db, origin, agent).select('seq').where('definition', 'in', definitions).execute();
  return rows.map(({ seq }) => seq).sort((one, other) => one - other);
}

/** Whether the agent has executions in a correlation that have ended with an answer and have a definition. */
export const hasDefinitions = async (db: Reader, correlationId: string, agent: string): Promise<boolean> => {
  const rows = answered(db, correlationId, agent).select('id').where('definition', 'is not', null).limit(1);
  return (await rows.executeTakeFirst()) !== undefined;
};

export const hasExecutions = async (db: Reader, correlationId: string): Promise<boolean> => {
  const rows = db.selectFrom('executions').select('id').where('correlation_id', '=', correlationId).limit(1);
  return (await rows.executeTakeFirst()) !== undefined;
};

const answered = (db: Reader, correlationId: string, agent: string) =>
  db
    .selectFrom('executions')
    .where('correlation_id', '=', correlationId)
    .where('agent', '=', agent)
    .where(isInState('completed', 'failed'));

/** An execution with the bytes of the payloads of its inputs. */
export interface InputSize {
  seq: number;
  id: string;
  batch: number;
  input_bytes: number;
}

/** Finds the executions at these positions, in their order. */
export const findInputSizes = (db: Reader, seqs: readonly number[]): Promise<InputSize[]> =>
  db
    .selectFrom('executions')
    .select(['seq', 'executions.id', 'batch', INPUT_BYTES])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute();

/** Finds the inputs of these executions, those of each in the order in which its agent sees them. */
export const findInputsOf = preparedWithList<object, string, ArtifactRow & { input_of: string }>((db, _place, ids) =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .selectAll('artifacts')
    .select('execution_inputs.execution_id as input_of')
    .where('execution_inputs.execution_id', 'in', ids)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position'),
);

/** Finds what an execution published. Errors of earlier rounds do not belong to its answer. */
export const findOutputs = (db: Reader, executionId: string): Promise<ArtifactRow[]> =>
  db
    .selectFrom('artifacts')
    .selectAll()
    .where('execution_id', '=', executionId)
    .where('type', '<>', WORKFLOW_ERROR)
    .orderBy('seq')
    .execute();

/** Returns the bytes of the payloads that an execution published. */
export async function countOutputBytes(db: Reader, executionId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('artifacts')
    .select(sql<number>`coalesce(sum(octet_length(payload)), 0)`.as('bytes'))
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** Marks an execution that has ended now with an answer from the record. `round`: that of the answer. */
export const markRecorded = ({ db }: Transaction, id: string, round: number, now: number): Promise<unknown> =>
  db
    .updateTable('executions')
    .set({ replay: RECORDED, round, started_at: now, attempt_started_at: now })
    .where('id', '=', id)
    .execute();
