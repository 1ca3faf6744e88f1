// Agents that only compute, in any cascade, beside the same agents without inline runs. Uses two applications, their databases and HTTP.
import fc from 'fast-check';

import { InlineRuns } from '../../src/blackboard/publishing/inline-runs.js';
import { countsOf, pendingOf, termsOf } from '../faults/invariants.js';
import { printedSeed } from '../support/random.js';
import { Board, tally } from './board.js';

const LAYERS = 5;
const KINDS = ['plain', 'where', 'join', 'after', 'limits', 'singleton', 'fair_by', 'priority', 'failing'] as const;
/** The most artifacts that one publish may lead to. */
const MOST_ARTIFACTS = 60;
/** A text in payloads. It doubles in some agents, so that some payloads are large. */
const TEXT = 1_300;

interface Agent {
  kind: (typeof KINDS)[number];
  /** The layers of the types that it consumes and publishes. */
  from: number[];
  outputs: { layer: number; count: number }[];
  doubles: boolean;
}

const agentOf = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    from: fc.uniqueArray(fc.integer({ min: 0, max: LAYERS - 2 }), { minLength: 2, maxLength: 2 }),
    outputs: fc.uniqueArray(
      fc.record({
        layer: fc.integer({ min: 1, max: LAYERS - 1 }),
        count: fc.constantFrom(0, 1, 1, 1, 2, 5),
      }),
      { selector: ({ layer }) => layer, minLength: 1, maxLength: 3 },
    ),
    doubles: fc.boolean(),
  })
  .map(({ kind, from, ...rest }): Agent => ({ kind, from: kind === 'join' ? from : from.slice(0, 1), ...rest }))
  .filter(({ from, outputs }) => outputs.every(({ layer }) => layer > Math.max(...from)));

/** A chain from the first layer, so that some artifacts follow from agents that ended in one transaction. */
const chainOf = fc
  .array(fc.record({ count: fc.constantFrom(1, 2, 3), doubles: fc.boolean() }), { minLength: 2, maxLength: LAYERS - 1 })
  .map((links) =>
    links.map(({ count, doubles }, layer): Agent => {
      const outputs = [{ layer: layer + 1, count }];
      return { kind: 'plain', from: [layer], outputs, doubles };
    }),
  );

const agentsOf = fc
  .tuple(chainOf, fc.array(agentOf, { minLength: 2, maxLength: 7 }))
  .map((agents) => agents.flat())
  .filter((agents) => mostArtifacts(agents) <= MOST_ARTIFACTS);

/** The number of artifacts that one of the first layer leads to, if no condition and no failure stops any. */
function mostArtifacts(agents: readonly Agent[]): number {
  const counts: number[] = Array.from({ length: LAYERS }, (_, layer) => (layer === 0 ? 1 : 0));
  for (let layer = 0; layer < LAYERS; layer += 1)
    for (const { from, outputs } of agents)
      if (Math.max(...from) === layer)
        for (const { layer: to, count } of outputs) counts[to]! += counts[layer]! * count;
  return counts.reduce((sum, count) => sum + count);
}

const OPTIONS: Partial<Record<Agent['kind'], string>> = {
  limits: ', limits: [pool]',
  singleton: ', singleton: { key: payload.k, on_conflict: queue }',
  fair_by: ', fair_by: payload.k',
};
const CONDITIONS: Partial<Record<Agent['kind'], string>> = {
  where: `, where: 'int(payload.n) % 2 == 0'`,
  priority: ', priority: 5',
  join: `, mode: all, join: { by: 'artifact.correlation_id + payload.k' }`,
};

const configOf = (agents: readonly Agent[]): string => `
limits: { pool: { concurrency: 1 } }
types:
  T4: { defaults: true, schema: { type: object, properties: { filled: { default: 7 } } } }
agents:
${agents.map((agent, index) => `  agent${index}: ${agentText(agent)}`).join('\n')}
`;

function agentText({ kind, from, outputs, doubles }: Agent): string {
  const after = kind === 'after' ? ', visibility: { kind: After, ttl: PT0.05S }' : '';
  const consumed = `{ types: [${from.map((layer) => `T${layer}`).join()}]${CONDITIONS[kind] ?? ''} }`;
  const published = outputs.map(({ layer }) => `{ type: T${layer}${after} }`);
  const input = kind === 'join' ? `inputs[0].payload` : 'payload';
  // Which artifacts a join combines is up to the order in which they come.
  const n = { join: '0.0', failing: '[payload.n + 1.0][int(payload.n) % 2]' }[kind as string] ?? 'payload.n + 1.0';
  const text = kind === 'join' ? "''" : doubles ? 'payload.text + payload.text' : 'payload.text';
  const lists = outputs.map(({ layer, count }) => ({
    name: `T${layer}`,
    list: `[${Array.from({ length: count }, () => `{"n": ${n}, "k": ${input}.k, "text": ${text}}`).join()}]`,
  }));
  const answer =
    lists.length === 1 ? lists[0]!.list : `{${lists.map(({ name, list }) => `"${name}": ${list}`).join()}}`;
  return `{ consumes: [${consumed}], publishes: [${published.join()}]${OPTIONS[kind] ?? ''}, retry: { attempts: 1 }, engine: { kind: expression, expression: ${JSON.stringify(answer)} } }`;
}

/** Publishes in a group are sent together. */
const groupsOf = fc.array(
  fc.array(
    fc.record({
      layer: fc.constantFrom(0, 0, 0, 1),
      n: fc.integer({ min: 0, max: 3 }),
      k: fc.constantFrom('x', 'y'),
      correlation: fc.constantFrom('a', 'b', 'c', null),
      waits: fc.boolean(),
      isLong: fc.constantFrom(false, false, true),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  { minLength: 1, maxLength: 3 },
);

type Groups = typeof groupsOf extends fc.Arbitrary<infer T> ? T : never;

/** Publishes everything, and returns the correlations in the order of the publishes. `apart`: those of a correlation one after another. */
async function publishAll(board: Board, groups: Groups, apart: boolean): Promise<string[]> {
  const correlations: string[] = [];
  for (const group of groups) {
    const publish = async ({ layer, n, k, correlation, waits, isLong }: Groups[number][number]): Promise<string> => {
      const payload = { n, k, text: isLong ? 'x'.repeat(TEXT) : '' };
      const parts = correlation === null ? {} : { correlation };
      if (!waits) return board.publish(`T${layer}`, payload, parts);
      return (await board.publishSync(`T${layer}`, payload, { ...parts, timeout: 60 })).correlation_id;
    };
    const named = Map.groupBy(group.entries(), ([index, { correlation }]) =>
      apart && correlation !== null ? correlation : String(index),
    );
    const found: string[] = [];
    await Promise.all(
      [...named.values()].map(async (some) => {
        for (const [index, each] of some) {
          found[index] = await publish(each);
          if (apart) await board.ended(found[index]);
        }
      }),
    );
    correlations.push(...found);
    // The end of a correlation removes what waits in its joins.
    for (const correlation of found) await board.ended(correlation);
  }
  return correlations;
}

interface Page<T> {
  items: T[];
}

async function everythingOf(board: Board, correlations: readonly string[]) {
  const list = async <T>(path: string, query: object): Promise<T[]> =>
    (
      (
        await board.http
          .get(path)
          .query({ limit: 500, ...query })
          .expect(200)
      ).body as Page<T>
    ).items;
  const found = [];
  for (const correlation of new Set(correlations)) {
    const artifacts = await board.artifacts(correlation);
    const executions = await list<{ agent: string; state: string }>('/api/v1/executions', {
      correlation_id: correlation,
    });
    const deliveries = await list<{ artifact_id: string; sequence: number }>('/api/v1/webhooks/deliveries', {
      correlation_id: correlation,
    });
    const inOrder = deliveries.sort((one, other) => one.sequence - other.sequence);
    expect(inOrder.map(({ artifact_id }) => artifact_id)).toEqual(artifacts.map(({ id }) => id));
    const { state, artifact_count, error_count, has_pending_work } = await board.status(correlation);
    found.push({
      artifacts: tally(artifacts.map(({ type, produced_by }) => `${type} by ${produced_by}`)),
      consumed: tally(artifacts.map(({ type, consumed_by = [] }) => `${type} by ${[...consumed_by].sort().join()}`)),
      executions: tally(executions.map(({ agent, state: ended }) => `${agent} ${ended}`)),
      status: { state, artifact_count, error_count, has_pending_work },
    });
  }
  return found;
}

/** The counts of each agent, without times. */
async function activityOf(board: Board) {
  const { body } = await board.http.get('/api/v1/activity').expect(200);
  const { agents } = body as { agents: Record<'agent' | 'starts' | 'ends' | 'failures' | 'retries', unknown>[] };
  return agents.map(({ agent, starts, ends, failures, retries }) => ({ agent, starts, ends, failures, retries }));
}

/** Returns what is wrong in the rows of one database. */
const breachesOf = (board: Board): Promise<string[]> =>
  board.app.database.look(async (rows) => [
    ...(await pendingOf(rows)),
    ...(await countsOf(rows)),
    ...(await termsOf(rows)),
    ...(
      await rows<{ id: string }>(
        `select id from correlations c where generation_executions <> (select count(*) from executions e
           where e.correlation_id = c.id and e.generation = c.generation)`,
      )
    ).map(({ id }) => `the count of executions of ${id} differs`),
    ...(
      await rows<{ id: string }>(
        `select id from executions e where state = 'completed' and (
           (select count(*) from consumptions c where c.execution_id = e.id) <> (select count(distinct artifact_seq) from execution_inputs i where i.execution_id = e.id)
           or started_at is null or ended_at < started_at or attempt_started_at is null or definition is null)`,
      )
    ).map(({ id }) => `execution ${id} is not complete`),
  ]);

const inlineRunsOf = (board: Board): InlineRuns => board.app.app.get(InlineRuns, { strict: false });

describe('agents that run before the transaction that adds their executions', () => {
  test('leave the same behind as those that are claimed', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(agentsOf, groupsOf, async (agents, groups) => {
        const settings = { secretKey: '0f'.repeat(32), webhookUrl: 'http://127.0.0.1:9/in' };
        const start = (): Promise<Board> => Board.start(configOf(agents), { settings });
        const boards = await Promise.all([start(), start()]);
        try {
          inlineRunsOf(boards[1]).runner = null;
          const runner = inlineRunsOf(boards[0]).runner!;
          const { triggeredBy } = runner;
          runner.triggeredBy = async (...given) => {
            const runs = await triggeredBy.apply(runner, given);
            answered += runs.size;
            return runs;
          };
          const apart = agents.some(({ kind }) => kind === 'join');
          const [one, other] = await Promise.all(
            boards.map(async (board) => {
              const correlations = await publishAll(board, groups, apart);
              const everything = await everythingOf(board, correlations);
              return { everything, activity: await activityOf(board), breaches: await breachesOf(board) };
            }),
          );
          expect(one!.breaches).toEqual([]);
          expect(one).toEqual(other);
        } finally {
          await Promise.all(boards.map((board) => board.close()));
        }
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 4) },
    );
    // Otherwise the two kinds of boards are the same.
    expect(answered).toBeGreaterThan(0);
  });
});
