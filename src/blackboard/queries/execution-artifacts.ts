import { prepared } from '../../database/prepared.js';
import { wireColumns, type WireRow } from './wire-rows.js';

interface Part {
  executionId: string;
  after: number;
  limit: number;
  most: number;
}

/** What an execution published, its errors included, in order and behind a position. */
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

/** In the order in which the agent sees them, behind a place in it. */
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
