import fc from 'fast-check';
import type { Publication } from '../../src/blackboard/blackboard.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { JsonObject } from '../../src/common/json.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { agent, anyObject, type Core, startCore } from './core.js';

/** What an artifact makes the agents do: fail that many attempts, then publish these. */
interface Script {
  fails: number;
  key: number;
  emit: { type: 'B' | 'C' | 'D'; script: Script }[];
}

const { script } = fc.letrec<{ script: Script }>((tie) => ({
  script: fc.record({
    fails: fc.integer({ min: 0, max: 3 }),
    key: fc.integer({ min: 0, max: 2 }),
    emit: fc.oneof(
      { maxDepth: 3 },
      fc.constant([]),
      fc.array(fc.record({ type: fc.constantFrom('B', 'C', 'D'), script: tie('script') }), { maxLength: 2 }),
    ),
  }) as fc.Arbitrary<Script>,
}));

const publications = fc.array(
  fc.record({
    correlation: fc.integer({ min: 1, max: 3 }),
    type: fc.constantFrom('A', 'B', 'C', 'D'),
    hiddenMs: fc.constantFrom(0, 0, 0, 3),
    script,
  }),
  { minLength: 1, maxLength: 12 },
);

/** Does what the first input's script says. */
const scripted: PreparedEngine = {
  run: async ({ artifacts }, { attempt }) => {
    const { fails, emit } = artifacts[0]!.payload as unknown as Script;
    if (attempt <= fails) throw new Error(`attempt ${attempt} of ${fails} fails`);
    return Object.fromEntries(['B', 'C', 'D'].map((type) => [type, emit.filter((part) => part.type === type).map((part) => part.script)]));
  },
};

const all = ['B', 'C', 'D'];
const agents = [
  agent('starter', [{ types: ['A'] }], all),
  agent('joiner', [{ types: ['B', 'C'], join: { by: 'payload.key', withinMs: null } }], ['D', 'C']),
  agent('hurried', [{ types: ['B', 'D'], join: { by: null, withinMs: 4 }, where: 'payload.B.key > 0.0' }], ['D', 'C']),
  agent('window', [{ types: ['C', 'D'], mode: 'any', batch: { size: 3, timeoutMs: 5 } }], ['D', 'B']),
  agent('picky', [{ types: ['D'], where: 'payload.key == 1.0' }], ['D', 'C'], { retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } }),
  agent('watcher', [{ types: ['WorkflowError'], allowSelf: false }], ['Seen']),
];
const watcher: PreparedEngine = { run: async () => ({ noted: true }) };
const engines = { ...Object.fromEntries(agents.map(({ name }) => [name, limited(scripted)])), watcher };

/** Keeps to the outputs that the agent declares, so that failures are the scripts' own. */
function limited(engine: PreparedEngine): PreparedEngine {
  return {
    run: async (inputs, context) => {
      const outputs = agents.find(({ name }) => name === (context.logger.bindings() as { agent: string }).agent)!.outputs;
      const answer = (await engine.run(inputs, context)) as Record<string, JsonObject[]>;
      return Object.fromEntries(outputs.map(({ type }) => [type, answer[type] ?? []]));
    },
  };
}

describe('settlement, whatever the order of arrivals, failures and retries', () => {
  let core: Core;
  const settled = new Map<string, number[]>();

  beforeAll(async () => {
    const types = ['A', 'B', 'C', 'D', 'Seen', 'WorkflowError'].map(anyObject);
    core = await startCore(new Catalog(types, agents), engines, { maxExecutionsPerCorrelation: 20 });
    core.signals.correlationSettled.subscribe(({ correlationId, opening }) => {
      settled.set(correlationId, [...(settled.get(correlationId) ?? []), opening]);
    });
  });

  afterAll(() => core.close());

  it('happens once for each opening, and the counts equal what the tables hold', async () => {
    await fc.assert(
      fc.asyncProperty(publications, fc.boolean(), async (list, together) => {
        const run = newId();
        const publish = (part: (typeof list)[number]) => core.blackboard.publish(publication(part, `${run}-${part.correlation}`));
        if (together) await Promise.all(list.map(publish));
        else for (const part of list) await publish(part);
        const ids = [...new Set(list.map((part) => `${run}-${part.correlation}`))];
        await eventually('every correlation has settled', () => allSettled(core, ids), 10_000);
        await checkOpenings(core, ids, settled);
        await checkCounts(core, ids);
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 60) },
    );
  }, 120_000);
});

const publication = ({ type, hiddenMs, script: payload }: { type: string; hiddenMs: number; script: Script }, correlationId: string): Publication => ({
  artifactId: newId(),
  correlationId,
  type,
  payload: payload as unknown as JsonObject,
  tags: [],
  partitionKey: null,
  visibility: hiddenMs > 0 ? { kind: 'After', ttl: `PT0.00${hiddenMs}S` } : { kind: 'Public' },
});

async function allSettled(core: Core, ids: string[]): Promise<boolean> {
  const active = await core.unitOfWork.reader.selectFrom('correlations').select('id').where('id', 'in', ids).where('state', '=', 'active').execute();
  return active.length === 0;
}

async function checkOpenings(core: Core, ids: string[], settled: Map<string, number[]>): Promise<void> {
  const rows = await core.unitOfWork.reader.selectFrom('correlations').select(['id', 'opening']).where('id', 'in', ids).execute();
  for (const { id, opening } of rows) expect(settled.get(id)).toEqual(Array.from({ length: opening }, (_, index) => index + 1));
}

async function checkCounts(core: Core, ids: string[]): Promise<void> {
  const { reader } = core.unitOfWork;
  for (const id of ids) {
    const correlation = await reader.selectFrom('correlations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const artifacts = await reader.selectFrom('artifacts').select(['type', 'produced_by']).where('correlation_id', '=', id).execute();
    const executions = await reader.selectFrom('executions').select(['state']).where('correlation_id', '=', id).execute();
    const errors = artifacts.filter(({ type }) => type === 'WorkflowError').length;
    const outputs = artifacts.filter(({ type, produced_by }) => type !== 'WorkflowError' && produced_by !== 'external').length;
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
