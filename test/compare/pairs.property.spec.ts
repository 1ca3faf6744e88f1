// The pairing of two cascades: a pure function, on random cascades with joins, windows, repeated executions and inputs
// of other correlations.
import fc from 'fast-check';

import type { Cascade, CascadeArtifact, CascadeExecution } from '../../src/features/compare/cascade.js';
import { type Pair, pairsOf } from '../../src/features/compare/pairs.js';
import { printedSeed } from '../support/random.js';

/** A step publishes as a client, or runs an agent on earlier artifacts. `inputs` are taken modulo what there is. */
interface Step {
  agent: string | null;
  subscription: number;
  inputs: number[];
  outputs: string[];
}

const step: fc.Arbitrary<Step> = fc.record({
  agent: fc.option(fc.constantFrom('sorter', 'writer'), { freq: 3 }),
  subscription: fc.integer({ min: 0, max: 1 }),
  inputs: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  outputs: fc.array(fc.constantFrom('A', 'B', 'C'), { maxLength: 3 }),
});
const steps = fc.array(step, { maxLength: 20 });

const ELSEWHERE = { id: 'elsewhere', type: 'A', produced_by: 'external' };

/** Builds a cascade. `prefix` makes its ids differ from those of another one. */
function cascadeOf(all: readonly Step[], prefix: string): Cascade {
  const artifacts: CascadeArtifact[] = [];
  const executions = new Map<string, CascadeExecution>();
  all.forEach(({ agent, subscription, inputs, outputs }, index) => {
    const execution_id = agent === null ? null : `${prefix}-execution-${index}`;
    if (execution_id !== null)
      executions.set(execution_id, {
        id: execution_id,
        agent: agent!,
        subscription,
        inputs: inputs.map((place) => artifacts[place % (artifacts.length + 1)] ?? ELSEWHERE),
      });
    for (const type of outputs)
      artifacts.push({
        seq: artifacts.length + 1,
        id: `${prefix}-${artifacts.length}`,
        type,
        produced_by: agent ?? 'external',
        execution_id,
        created_at: 0,
      });
  });
  return { artifacts, executions };
}

/** The same cascade, published in another order in which inputs still precede outputs. */
function reordered(cascade: Cascade, keys: readonly number[]): Cascade {
  const blocks = [...Map.groupBy(cascade.artifacts, ({ execution_id, id }) => execution_id ?? id)];
  const done = new Set<string>();
  const isReady = ([execution]: (typeof blocks)[number]): boolean =>
    (cascade.executions.get(execution)?.inputs ?? []).every(({ id }) => done.has(id) || id === ELSEWHERE.id);
  const artifacts: CascadeArtifact[] = [];
  for (let turn = 0; blocks.length > 0; turn++) {
    // Artifacts of clients, and executions of one subscription, keep their order, by which they are counted.
    const ready = blocks
      .filter(isReady)
      .filter((block, _index, all) => block === all.find((one) => same(one, block, cascade)));
    const next = ready[(keys[turn % Math.max(1, keys.length)] ?? 0) % ready.length]!;
    blocks.splice(blocks.indexOf(next), 1);
    for (const artifact of next[1]) {
      done.add(artifact.id);
      artifacts.push({ ...artifact, seq: artifacts.length + 1 });
    }
  }
  return { ...cascade, artifacts };
}

const same = ([one]: [string, unknown], [other]: [string, unknown], { executions }: Cascade): boolean => {
  const key = (id: string): string | undefined => {
    const execution = executions.get(id);
    return execution && `${execution.agent} ${execution.subscription}`;
  };
  return key(one) === key(other);
};

const bare = (pairs: readonly Pair[]): (string | null | boolean)[][] =>
  pairs.map(({ left, right, moved }) => [left?.id ?? null, right?.id ?? null, moved]);
const sorted = <T>(items: readonly T[]): string[] => items.map((item) => JSON.stringify(item)).sort();

describe('pairs of artifacts', () => {
  test('contain each artifact of both sides once, with its own type and producer', () => {
    fc.assert(
      fc.property(steps, steps, (one, other) => {
        const [left, right] = [cascadeOf(one, 'l'), cascadeOf(other, 'r')];
        const pairs = pairsOf(left, right);
        expect(pairs.flatMap((pair) => pair.left ?? [])).toEqual(left.artifacts);
        expect(sorted(pairs.flatMap((pair) => pair.right ?? []))).toEqual(sorted(right.artifacts));
        for (const pair of pairs.filter((each) => each.left && each.right)) {
          expect([pair.left!.type, pair.left!.produced_by]).toEqual([pair.right!.type, pair.right!.produced_by]);
        }
        // Nothing is left over that could be a pair.
        const only = (side: 'left' | 'right') =>
          new Set(
            pairs
              .filter((pair) => !pair[side === 'left' ? 'right' : 'left'])
              .map((pair) => `${pair[side]!.type} ${pair[side]!.produced_by}`),
          );
        expect([...only('left')].filter((key) => only('right').has(key))).toEqual([]);
      }),
      { seed: printedSeed() },
    );
  });

  test('are the same with the sides exchanged', () => {
    fc.assert(
      fc.property(steps, steps, (one, other) => {
        const [left, right] = [cascadeOf(one, 'l'), cascadeOf(other, 'r')];
        const exchanged = bare(pairsOf(right, left)).map(([r, l, moved]) => [l, r, moved]);
        expect(sorted(bare(pairsOf(left, right)))).toEqual(sorted(exchanged));
      }),
      { seed: printedSeed() },
    );
  });

  test('of equal cascades are at the same places, in whatever order concurrent executions ended', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(), { maxLength: 20 }), (all, keys) => {
        const [left, right] = [cascadeOf(all, 'l'), reordered(cascadeOf(all, 'r'), keys)];
        const pairs = pairsOf(left, right);
        expect(pairs.filter(({ left: l, right: r, moved }) => !l || !r || moved)).toEqual([]);
      }),
      { seed: printedSeed() },
    );
  });

  test('of which one side is missing say so, and a further agent between two moves what follows', () => {
    const client = (type: string): Step => ({ agent: null, subscription: 0, inputs: [0], outputs: [type] });
    const by = (agent: string, input: number, ...outputs: string[]): Step => ({
      agent,
      subscription: 0,
      inputs: [input],
      outputs,
    });
    const left = cascadeOf([client('A'), by('sorter', 0, 'B', 'B'), by('writer', 1, 'C')], 'l');
    const right = cascadeOf([client('A'), by('checker', 0, 'D'), by('sorter', 0, 'B'), by('writer', 1, 'C')], 'r');
    expect(bare(pairsOf(left, right))).toEqual([
      ['l-0', 'r-0', false],
      [null, 'r-1', false],
      ['l-1', 'r-2', false],
      ['l-2', null, false],
      ['l-3', 'r-3', true],
    ]);
  });
});
