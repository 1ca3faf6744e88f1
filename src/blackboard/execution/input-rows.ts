import { sql } from 'kysely';

import { preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import { SHARED_COLUMNS } from '../artifacts/artifact.js';
import { type ExecutionInput, SMALL_PAYLOAD_BYTES } from '../artifacts/execution-input.js';

export type InputRow = ExecutionInput & { input_of: string };

const SIZE = sql<number>`octet_length(artifacts.payload)`;

const SMALL_PAYLOAD = sql<
  string | null
>`case when ${SIZE} <= ${sql.lit(SMALL_PAYLOAD_BYTES)} / (execution_inputs.position + 1) then artifacts.payload end`;

export const findClaimedInputs = preparedWithList<object, string, InputRow>((db, _place, executionIds) =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['artifacts.seq', ...SHARED_COLUMNS.map((column) => `artifacts.${column}` as const)])
    .select(['execution_inputs.execution_id as input_of', SIZE.as('payload_bytes'), SMALL_PAYLOAD.as('payload')])
    .where('execution_inputs.execution_id', 'in', executionIds)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position'),
);

/** Finds the positions and ids of an execution's inputs, in the order in which the agent receives them. */
export const findInputIds = (db: Reader, executionId: string): Promise<{ seq: number; id: string }[]> =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['artifacts.seq', 'artifacts.id'])
    .where('execution_inputs.execution_id', '=', executionId)
    .orderBy('execution_inputs.position')
    .execute();

/** Whether inputs of an execution are missing: retention may delete them when it has ended. */
export async function lacksInputs(db: Reader, executionId: string): Promise<boolean> {
  const inputs = await db
    .selectFrom('execution_inputs')
    .leftJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select('artifacts.seq')
    .where('execution_inputs.execution_id', '=', executionId)
    .execute();
  return inputs.length === 0 || inputs.some(({ seq }) => seq === null);
}
