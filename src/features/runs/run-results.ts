import { Injectable } from '@nestjs/common';

import { addStored, type Item, type Piece } from '../../blackboard/queries/stored-pieces.js';
import { pagesOf } from '../../blackboard/queries/stored-texts.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type FinalArtifact, findFinal, findFinalOfSome, MOST_OF_SOME } from './final-artifact-rows.js';

/**
 * The output of a workflow: the payload of its only final artifact; `{}` if there is none; otherwise an object keyed
 * by type name, with a list if a type occurs more than once (docs/api.md).
 */
export class RunResult {
  /** Keyed by type name, in the order of the first artifact of each type. */
  private readonly byType = new Map<string, { items: Item[]; count: number }>();

  add({ seq, type, payload, bytes }: FinalArtifact): void {
    let ofType = this.byType.get(type);
    if (!ofType) this.byType.set(type, (ofType = { items: [], count: 0 }));
    ofType.count += 1;
    if (payload === null) addStored(ofType.items, 'payloads', seq, bytes);
    else ofType.items.push(payload);
  }

  pieces(): Piece[] {
    const types = [...this.byType];
    if (types.length === 0) return ['{}'];
    if (types.length === 1 && types[0]![1].count === 1) return [types[0]![1].items];
    return [
      ...types.flatMap(([type, { items, count }], index): Piece[] => {
        const name = `${index === 0 ? '{' : ','}${JSON.stringify(type)}:`;
        return count === 1 ? [name, items] : [`${name}[`, items, ']'];
      }),
      '}',
    ];
  }
}

/** Finds the results of runs. Large payloads are read when the answer reaches them. */
@Injectable()
export class RunResults {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async of(runId: string): Promise<RunResult> {
    const result = new RunResult();
    const find = (after: number, limit: number, most: number) =>
      findFinal(this.unitOfWork.reader, { runId, after, limit, most });
    for await (const rows of pagesOf(find, 0, ({ seq }) => seq)) rows.forEach((row) => result.add(row));
    return result;
  }

  /** Returns the results keyed by run id. */
  async ofSome(runIds: readonly string[]): Promise<Map<string, RunResult>> {
    const rows = await findFinalOfSome(this.unitOfWork.reader, {}, runIds);
    if (rows.length === MOST_OF_SOME) return this.oneByOne(runIds);
    const results = new Map(runIds.map((id) => [id, new RunResult()]));
    for (const row of rows.sort((one, other) => one.seq - other.seq)) results.get(row.correlation_id)!.add(row);
    return results;
  }

  private async oneByOne(runIds: readonly string[]): Promise<Map<string, RunResult>> {
    const results = new Map<string, RunResult>();
    for (const id of runIds) results.set(id, await this.of(id));
    return results;
  }
}
