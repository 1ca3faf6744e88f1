import { Injectable } from '@nestjs/common';

import { findArtifacts, inParts } from '../../blackboard/explain/trace-rows.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { Cascade, CascadeExecution } from './cascade.js';

/** Inputs that decide the place of an execution. A window has up to 10,000. */
const FIRST_INPUTS = 10;

/** Reads what decides the places of a correlation's artifacts. */
@Injectable()
export class CascadesRepository {
  /** Reads the first `limit` artifacts, and the executions that published them. */
  async find(reader: Reader, correlationId: string, limit: number): Promise<Cascade> {
    const artifacts = await findArtifacts(reader, correlationId, 0, limit);
    const ids = [...new Set(artifacts.flatMap(({ execution_id }) => execution_id ?? []))];
    const inputs = Map.groupBy(await findFirstInputs(reader, ids), ({ execution_id }) => execution_id);
    const executions = (await findExecutions(reader, ids)).map((row): [string, CascadeExecution] => [
      row.id,
      { ...row, inputs: inputs.get(row.id) ?? [] },
    ]);
    return { artifacts, executions: new Map(executions) };
  }
}

const findExecutions = (reader: Reader, ids: readonly string[]): Promise<Omit<CascadeExecution, 'inputs'>[]> =>
  inParts(ids, (part) =>
    reader.selectFrom('executions').select(['id', 'agent', 'subscription']).where('id', 'in', part).execute(),
  );

type Input = CascadeExecution['inputs'][number] & { execution_id: string };

const findFirstInputs = (reader: Reader, ids: readonly string[]): Promise<Input[]> =>
  inParts(ids, (part) =>
    reader
      .selectFrom('execution_inputs')
      .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
      .select(['execution_inputs.execution_id', 'artifacts.id', 'artifacts.type', 'artifacts.produced_by'])
      .where('execution_inputs.execution_id', 'in', part)
      .where('execution_inputs.position', '<', FIRST_INPUTS)
      .orderBy('execution_inputs.execution_id')
      .orderBy('execution_inputs.position')
      .execute(),
  );
