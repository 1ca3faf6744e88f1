import { Injectable } from '@nestjs/common';
import { EXTERNAL, WORKFLOW_ERROR } from '../catalog/definitions.js';
import type { JsonObject, JsonValue } from '../common/json.js';
import { preparedWithList } from '../database/prepared.js';
import { UnitOfWork } from '../database/unit-of-work.js';

interface FinalArtifact {
  correlation_id: string;
  type: string;
  payload: string;
}

/**
 * The outputs of workflows: the payload of the one final artifact, `{}` where there is none, else an object keyed by type name
 * with a list where a type occurs more than once (wire-decisions.md, "Interface A").
 */
@Injectable()
export class RunResults {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** By run id. */
  async of(runIds: readonly string[]): Promise<Map<string, JsonValue>> {
    const artifacts = await findFinal(this.unitOfWork.reader, {}, runIds);
    const byRun = Map.groupBy(artifacts, ({ correlation_id }) => correlation_id);
    return new Map(runIds.map((id) => [id, resultOf(byRun.get(id) ?? [])]));
  }
}

function resultOf(artifacts: FinalArtifact[]): JsonValue {
  const payloads = artifacts.map(({ payload }) => JSON.parse(payload) as JsonObject);
  if (payloads.length <= 1) return payloads[0] ?? {};
  const byType = Map.groupBy(payloads, (_payload, index) => artifacts[index]!.type);
  return Object.fromEntries([...byType].map(([type, list]) => [type, list.length === 1 ? list[0]! : list]));
}

// Only consumers in the workflow itself count: one in another, which may come long after the run's end, must not change what
// the run has answered.
const findFinal = preparedWithList<object, string, FinalArtifact>((db, _place, correlationIds) =>
  db
    .selectFrom('artifacts')
    .select(['correlation_id', 'type', 'payload'])
    .where('correlation_id', 'in', correlationIds)
    .where('produced_by', '<>', EXTERNAL)
    .where('type', '<>', WORKFLOW_ERROR)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('consumptions')
            .innerJoin('artifacts as made', 'made.execution_id', 'consumptions.execution_id')
            .select('made.seq')
            .whereRef('consumptions.artifact_seq', '=', 'artifacts.seq')
            .whereRef('made.correlation_id', '=', 'artifacts.correlation_id'),
        ),
      ),
    )
    .orderBy('seq'),
);
