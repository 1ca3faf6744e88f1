import fc from 'fast-check';

import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { type Core, startCore } from './core.js';
import { agents, allSettled, engines, publication, publications, types } from './scripted-agents.js';

describe('settlement, for any order of arrivals, failures and retries', () => {
  let core: Core;
  const settled = new Map<string, number[]>();

  beforeAll(async () => {
    core = await startCore(new Catalog(types, agents), engines, { maxExecutionsPerCorrelation: 20 });
    core.signals.correlationSettled.subscribe(({ correlationId, generation }) => {
      settled.set(correlationId, [...(settled.get(correlationId) ?? []), generation]);
    });
  });

  afterAll(() => core.close());

  it('happens once for each generation, and the counts equal the rows', async () => {
    await fc.assert(
      fc.asyncProperty(publications, fc.boolean(), async (list, together) => {
        const run = newId();
        const publish = (part: (typeof list)[number]) =>
          core.publisher.publish(publication(part, `${run}-${part.correlation}`));
        if (together) await Promise.all(list.map(publish));
        else for (const part of list) await publish(part);
        const ids = [...new Set(list.map((part) => `${run}-${part.correlation}`))];
        await eventually('every correlation has settled', () => allSettled(core, ids));
        await checkGenerations(core, ids, settled);
        await checkCounts(core, ids);
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 60) },
    );
  });
});

async function checkGenerations(core: Core, ids: string[], settled: Map<string, number[]>): Promise<void> {
  const rows = await core.unitOfWork.reader
    .selectFrom('correlations')
    .select(['id', 'generation'])
    .where('id', 'in', ids)
    .execute();
  for (const { id, generation } of rows) {
    // Reported after the commit, which other readers may have seen before.
    await eventually('the last settling was reported', () => (settled.get(id)?.length ?? 0) >= generation);
    expect(settled.get(id)).toEqual(Array.from({ length: generation }, (_, index) => index + 1));
  }
}

async function checkCounts(core: Core, ids: string[]): Promise<void> {
  const { reader } = core.unitOfWork;
  for (const id of ids) {
    const correlation = await reader
      .selectFrom('correlations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const artifacts = await reader
      .selectFrom('artifacts')
      .select(['type', 'produced_by'])
      .where('correlation_id', '=', id)
      .execute();
    const executions = await reader
      .selectFrom('executions')
      .select(['state'])
      .where('correlation_id', '=', id)
      .execute();
    const errors = artifacts.filter(({ type }) => type === 'WorkflowError').length;
    const outputs = artifacts.filter(
      ({ type, produced_by }) => type !== 'WorkflowError' && produced_by !== 'external',
    ).length;
    expect(correlation).toMatchObject({
      pending: 0,
      artifact_count: artifacts.length,
      error_count: errors,
      output_count: outputs,
      state: errors > 0 && outputs === 0 ? 'failed' : 'completed',
    });
    expect(executions.filter(({ state }) => state !== 'completed' && state !== 'failed')).toEqual([]);
  }
}
