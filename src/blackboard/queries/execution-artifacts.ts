import { prepared } from '../../database/prepared.js';
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
