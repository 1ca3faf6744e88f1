import fc from 'fast-check';

import type { Publication } from '../../src/blackboard/publishing/publication.js';
import { newId } from '../../src/common/ids.js';
import type { JsonObject } from '../../src/common/json.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { agent, anyObject, type Core } from './core.js';

/** An artifact's instructions to the agents: fail this many attempts, then publish these. */
export interface Script {
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

export const publications = fc.array(
  fc.record({
    correlation: fc.integer({ min: 1, max: 3 }),
    type: fc.constantFrom('A', 'B', 'C', 'D'),
    hiddenMs: fc.constantFrom(0, 0, 0, 3),
    script,
  }),
  { minLength: 1, maxLength: 12 },
);

/** Follows the script of the first input. */
const scripted: PreparedEngine = {
  run: async ({ artifacts }, { attempt }) => {
    const { fails, emit } = artifacts[0]!.payload as unknown as Script;
    if (attempt <= fails) throw new Error(`attempt ${attempt} of ${fails} fails`);
    return Object.fromEntries(
      ['B', 'C', 'D'].map((type) => [type, emit.filter((part) => part.type === type).map((part) => part.script)]),
    );
  },
};

export const types = ['A', 'B', 'C', 'D', 'Seen', 'WorkflowError'].map(anyObject);

const all = ['B', 'C', 'D'];
export const agents = [
  agent('starter', [{ types: ['A'] }], all),
  agent('joiner', [{ types: ['B', 'C'], join: { by: 'payload.key', withinMs: null } }], ['D', 'C']),
  agent('hurried', [{ types: ['B', 'D'], join: { by: null, withinMs: 4 }, where: 'payload.B.key > 0.0' }], ['D', 'C']),
  agent('window', [{ types: ['C', 'D'], mode: 'any', batch: { size: 3, timeoutMs: 5, key: null } }], ['D', 'B']),
  agent('picky', [{ types: ['D'], where: 'payload.key == 1.0' }], ['D', 'C'], {
    retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 },
  }),
  agent('watcher', [{ types: ['WorkflowError'], allowSelf: false }], ['Seen']),
];
const watcher: PreparedEngine = { run: async () => ({ noted: true }) };
export const engines = { ...Object.fromEntries(agents.map(({ name }) => [name, limited(scripted)])), watcher };

/** Publishes only outputs that the agent declares, so that only the scripts cause failures. */
function limited(engine: PreparedEngine): PreparedEngine {
  return {
    run: async (inputs, context) => {
      const outputs = agents.find(
        ({ name }) => name === (context.logger.bindings() as { agent: string }).agent,
      )!.outputs;
      const answer = (await engine.run(inputs, context)) as Record<string, JsonObject[]>;
      return Object.fromEntries(outputs.map(({ type }) => [type, answer[type] ?? []]));
    },
  };
}

export const publication = (
  { type, hiddenMs, script: payload }: { type: string; hiddenMs: number; script: Script },
  correlationId: string,
): Publication => ({
  artifactId: newId(),
  correlationId,
  type,
  payload: payload as unknown as JsonObject,
  tags: [],
  partitionKey: null,
  visibility: hiddenMs > 0 ? { kind: 'After', ttl: `PT${(hiddenMs / 1_000).toFixed(3)}S` } : { kind: 'Public' },
});

export async function allSettled(core: Core, ids: string[]): Promise<boolean> {
  const active = await core.unitOfWork.reader
    .selectFrom('correlations')
    .select('id')
    .where('id', 'in', ids)
    .where('state', '=', 'active')
    .execute();
  return active.length === 0;
}
