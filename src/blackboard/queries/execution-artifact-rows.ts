import { prepared } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactFilter } from './artifact-filter.js';
import type { Path, Window } from './artifact-paths.js';
import { matchingAlong } from './path-rows.js';
import { wireColumns, type WireRow } from './wire-rows.js';

interface Part {
  executionId: string;
  after: number;
  limit: number;
  most: number;
}

/** Returns what an execution published after a position, including errors, sorted by position. */
export const findOutputs = prepared<Part, WireRow>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(wireColumns(place('most')))
    .where('execution_id', '=', place('executionId'))
    .where('execution_id', 'is not', null)
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(place('limit')),
);

/** Returns the inputs of an execution after a place, in the order in which the agent receives them. */
export const findInputs = prepared<Part, WireRow & { place: number }>((db, place) =>
  db
    .selectFrom('execution_inputs')
    .crossJoin('artifacts')
    .whereRef('artifacts.seq', '=', 'execution_inputs.artifact_seq')
    .select(wireColumns(place('most')))
    .select('execution_inputs.position as place')
    .where('execution_inputs.execution_id', '=', place('executionId'))
    .where('execution_inputs.position', '>', place('after'))
    .orderBy('execution_inputs.position')
    .limit(place('limit')),
);

/** An execution, and how many of the artifacts in one window of a walk it consumed or produced. */
export interface Involved {
  seq: number;
  state: string;
  ended_at: number | null;
  artifacts: number;
}

const INVOLVED = ['executions.seq', 'executions.state', 'executions.ended_at'] as const;

/** Counts the matching artifacts that executions of an agent consumed, by execution. */
export const countConsumed = (
  db: Reader,
  path: Path,
  window: Window,
  filter: ArtifactFilter,
  agent: string,
): Promise<Involved[]> =>
  matchingAlong(db, path, window, filter)
    .crossJoin('consumptions')
    .whereRef('consumptions.artifact_seq', '=', 'artifacts.seq')
    .where('consumptions.consumer', '=', agent)
    .crossJoin('executions')
    .whereRef('executions.id', '=', 'consumptions.execution_id')
    .select(INVOLVED)
    .select((eb) => eb.fn.countAll<number>().as('artifacts'))
    .groupBy(INVOLVED)
    .execute();

/** Counts the matching artifacts that executions produced, by execution. */
export const countProduced = (db: Reader, path: Path, window: Window, filter: ArtifactFilter): Promise<Involved[]> =>
  matchingAlong(db, path, window, filter)
    .crossJoin('executions')
    .whereRef('executions.id', '=', 'artifacts.execution_id')
    .select(INVOLVED)
    .select((eb) => eb.fn.countAll<number>().as('artifacts'))
    .groupBy(INVOLVED)
    .execute();
