import type { Selectable } from 'kysely';

import { laterTurn } from '../../common/scheduler.js';
import type { ArtifactsTable, ExecutionAttemptsTable, ExecutionsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

/**
 * How many inputs and outputs of one execution are listed. A window has up to 10,000 inputs, and an execution publishes
 * up to 1,000 outputs.
 */
export const MOST_LISTED = 100;

/** Executions per statement. node:sqlite queries are synchronous, so other requests run only between statements. */
const AT_ONCE = 200;

export type ArtifactOfTrace = Pick<
  Selectable<ArtifactsTable>,
  'seq' | 'id' | 'type' | 'produced_by' | 'execution_id' | 'created_at'
>;

/** Finds the artifacts of a correlation after a position, sorted by position and without payloads. */
export const findArtifacts = (
  reader: Reader,
  correlationId: string,
  after: number,
  limit: number,
): Promise<ArtifactOfTrace[]> =>
  reader
    .selectFrom('artifacts')
    .select(['seq', 'id', 'type', 'produced_by', 'execution_id', 'created_at'])
    .where('correlation_id', '=', correlationId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Finds the executions that have these artifacts as inputs. */
export const findUses = (
  reader: Reader,
  seqs: readonly number[],
): Promise<{ artifact_seq: number; execution_id: string }[]> =>
  inParts(seqs, (part) =>
    reader
      .selectFrom('execution_inputs')
      .select(['artifact_seq', 'execution_id'])
      .where('artifact_seq', 'in', part)
      .execute(),
  );

const OF_EXECUTION = [
  'seq',
  'id',
  'agent',
  'subscription',
  'correlation_id',
  'generation',
  'state',
  'direct',
  'replay',
  'attempt',
  'round',
  'attempt_started_at',
  'available_at',
  'created_at',
  'started_at',
  'ended_at',
  'error_type',
  'error_message',
  'error_cause',
  'error_stack',
  'assignee',
  'claimed_by',
  'lease_owner',
  'lease_until',
  'due_at',
  'cancelled_by',
  'cached_from',
  'skipped_for',
  'superseded_by',
  'variant',
] as const;

export type ExecutionOfTrace = Pick<Selectable<ExecutionsTable>, (typeof OF_EXECUTION)[number]> & {
  run_id: string | null;
};

export const findExecutions = (reader: Reader, ids: readonly string[]): Promise<ExecutionOfTrace[]> =>
  inParts(ids, (part) =>
    reader
      .selectFrom('executions')
      .leftJoin('runs', (join) =>
        join.onRef('runs.id', '=', 'executions.correlation_id').onRef('runs.execution_id', '=', 'executions.id'),
      )
      .select(OF_EXECUTION.map((column) => `executions.${column}` as const))
      .select('runs.id as run_id')
      .where('executions.id', 'in', part)
      .execute(),
  );

/** An artifact's id and the execution that it is an input or an output of. */
export interface End {
  execution_id: string | null;
  id: string;
}

/** Finds the inputs in their order. Each execution gets at most one more than is listed. */
export const findInputs = (reader: Reader, ids: readonly string[]): Promise<End[]> =>
  inParts(ids, (part) =>
    reader
      .selectFrom('execution_inputs')
      .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
      .select(['execution_inputs.execution_id', 'artifacts.id'])
      .where('execution_inputs.execution_id', 'in', part)
      .where('execution_inputs.position', '<=', MOST_LISTED)
      .orderBy('execution_inputs.execution_id')
      .orderBy('execution_inputs.position')
      .execute(),
  );

/**
 * Finds the outputs in the order of publishing. Each execution gets at most one more than is listed. Each has its own
 * subquery, so that no more rows are read.
 */
export const findOutputs = (reader: Reader, ids: readonly string[]): Promise<End[]> =>
  inParts(ids, (part) => {
    const [first, ...others] = part.map((id) =>
      reader.selectFrom(firstOutputs(reader, id).as('output')).select(['output.execution_id', 'output.id']),
    );
    return others.reduce((together, outputs) => together.unionAll(outputs), first!).execute();
  });

const firstOutputs = (reader: Reader, executionId: string) =>
  reader
    .selectFrom('artifacts')
    .select(['execution_id', 'id'])
    .where('execution_id', '=', executionId)
    .orderBy('seq')
    .limit(MOST_LISTED + 1);

export type AttemptOfTrace = Selectable<ExecutionAttemptsTable>;

/**
 * Finds the failed attempts that were followed by another one, in order. Each execution gets at most one more than is
 * listed.
 */
export const findFailedAttempts = (reader: Reader, ids: readonly string[]): Promise<AttemptOfTrace[]> =>
  inParts(ids, (part) => {
    const [first, ...others] = part.map((id) => reader.selectFrom(firstAttempts(reader, id).as('attempt')).selectAll());
    return others.reduce((together, attempts) => together.unionAll(attempts), first!).execute();
  });

const firstAttempts = (reader: Reader, executionId: string) =>
  reader
    .selectFrom('execution_attempts')
    .selectAll()
    .where('execution_id', '=', executionId)
    .orderBy('round')
    .orderBy('attempt')
    .limit(MOST_LISTED + 1);

/** Finds the rows of some items at a time, so that other requests can run between the statements. */
export async function inParts<Item, Row>(
  items: readonly Item[],
  find: (part: readonly Item[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    rows.push(...(await find(items.slice(start, start + AT_ONCE))));
    await laterTurn();
  }
  return rows;
}
