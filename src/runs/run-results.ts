import { Injectable } from '@nestjs/common';
import type { RawBuilder } from 'kysely';
import { EXTERNAL, WORKFLOW_ERROR } from '../catalog/definitions.js';
import type { JsonObject, JsonValue } from '../common/json.js';
import { preparedWithList } from '../database/prepared.js';
import { type Reader, UnitOfWork } from '../database/unit-of-work.js';

interface FinalArtifact {
  correlation_id: string;
  type: string;
  payload: string;
}

export interface RunResult {
  value: JsonValue;
  /** Of its payloads' text. */
  bytes: number;
}

const MIB = 1_024 ** 2;

/** Read and parsed in one go; a single result may be larger. */
const MOST_READ_BYTES = MIB;

/** Kept of one part and the next together; again, a single one may be larger. */
const MOST_HELD_BYTES = 8 * MIB;

/**
 * The outputs of workflows: the payload of the one final artifact, `{}` where there is none, else an object keyed by type name
 * with a list where a type occurs more than once (wire-decisions.md, "Interface A").
 */
@Injectable()
export class RunResults {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The results of the first of these runs, as many as one part takes: at least one. Those in `held` are not read again. */
  async part(runIds: readonly string[], held: ReadonlyMap<string, RunResult>): Promise<Map<string, RunResult>> {
    const ids = [...new Set(runIds)];
    const sizes = await this.sizes(ids.filter((id) => !held.has(id)));
    const taken = firstThatFit(ids, sizes, held);
    const read = await this.of(taken.filter((id) => !held.has(id)));
    return new Map(taken.map((id) => [id, held.get(id) ?? { value: read.get(id)!, bytes: sizes.get(id) ?? 0 }]));
  }

  /** By run id. */
  async of(runIds: readonly string[]): Promise<Map<string, JsonValue>> {
    const artifacts = await findFinal(this.unitOfWork.reader, {}, runIds);
    const byRun = Map.groupBy(artifacts, ({ correlation_id }) => correlation_id);
    return new Map(runIds.map((id) => [id, resultOf(byRun.get(id) ?? [])]));
  }

  private async sizes(runIds: readonly string[]): Promise<Map<string, number>> {
    const sizes = await findSizes(this.unitOfWork.reader, {}, runIds);
    return new Map(sizes.map(({ correlation_id, bytes }) => [correlation_id, Number(bytes)]));
  }
}

function firstThatFit(ids: readonly string[], sizes: ReadonlyMap<string, number>, held: ReadonlyMap<string, RunResult>): string[] {
  let reading = 0;
  let holding = 0;
  const end = ids.findIndex((id, index) => {
    const unread = sizes.get(id) ?? 0;
    reading += unread;
    holding += held.get(id)?.bytes ?? unread;
    return index > 0 && (reading > MOST_READ_BYTES || holding > MOST_HELD_BYTES);
  });
  return end < 0 ? [...ids] : ids.slice(0, end);
}

function resultOf(artifacts: FinalArtifact[]): JsonValue {
  const payloads = artifacts.map(({ payload }) => JSON.parse(payload) as JsonObject);
  if (payloads.length <= 1) return payloads[0] ?? {};
  const byType = Map.groupBy(payloads, (_payload, index) => artifacts[index]!.type);
  return Object.fromEntries([...byType].map(([type, list]) => [type, list.length === 1 ? list[0]! : list]));
}

// Only consumers in the workflow itself count: one in another, which may come long after the run's end, must not change what
// the run has answered.
const finalOf = (db: Reader, correlationIds: RawBuilder<string>[]) =>
  db
    .selectFrom('artifacts')
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
    );

const findFinal = preparedWithList<object, string, FinalArtifact>((db, _place, correlationIds) =>
  finalOf(db, correlationIds).select(['correlation_id', 'type', 'payload']).orderBy('seq'),
);

// Bytes, not characters: these would have to be read to be counted.
const findSizes = preparedWithList<object, string, { correlation_id: string; bytes: number | string | bigint }>((db, _place, correlationIds) =>
  finalOf(db, correlationIds)
    .select(['correlation_id', ({ fn }) => fn.sum(fn('octet_length', ['payload'])).as('bytes')])
    .groupBy('correlation_id'),
);
