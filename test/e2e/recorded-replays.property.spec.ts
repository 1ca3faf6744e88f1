// Replays from the record, for any cascade. Uses the application, its database and HTTP; time is moved by the test.
import fc from 'fast-check';

import { newId } from '../../src/common/ids.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed } from '../support/random.js';
import { Board, type WireArtifact } from './board.js';

const CONFIG = `
types: { Other: {} }
agents:
  flaky:
    consumes: [{ types: [Item], where: 'payload.n != 0' }]
    publishes: [{ type: Part, tags: [made] }]
    engine: { kind: function, module: ./flaky.mjs }
    retry: { attempts: 2, delay: 0s }
  joiner:
    consumes: [{ types: [Item, Other], mode: all, join: { by: payload.k, within: 5s }, where: 'inputs[0].payload.n != 3' }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"n": payload.Item.n, "other": payload.Other.n}' }
    retry: { attempts: 2, delay: 0s }
    variants: { failing: { share: 50%, expression: '{"n": payload.Item.missing}' } }
    rollback: { failures: 50%, of: 6 }
  packer:
    consumes: [{ types: [Part], batch: { size: 2, timeout: 5s } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"parts": payload.map(part, part.n)}' }
  watcher:
    consumes: [{ types: [WorkflowError, Pack, Pair], mode: any }]
    publishes: [{ type: Seen }]
    engine: { kind: expression, expression: '{"seen": artifact.type}' }
    variants: { other: { share: 50%, expression: '{"other": artifact.type}' } }
`;

/** Fails always, or at first, or not; and counts its calls. */
const FLAKY = `
export default async ([{ payload }], { attempt }) => {
  globalThis.flakyCalls = (globalThis.flakyCalls ?? 0) + 1;
  if (payload.n === 4 || (payload.n === 5 && attempt === 1)) throw new Error('flaky ' + payload.n);
  return Array.from({ length: payload.n % 3 }, (_, n) => ({ n }));
};`;

const calls = (): number => (globalThis as { flakyCalls?: number }).flakyCalls ?? 0;

const items = fc.array(
  fc.record({
    type: fc.constantFrom('Item', 'Other'),
    k: fc.integer({ min: 0, max: 1 }),
    n: fc.integer({ min: 0, max: 6 }),
    correlation: fc.constantFrom('a', 'b'),
  }),
  { minLength: 1, maxLength: 8 },
);

interface Listed {
  agent: string;
  state: string;
  replay?: string;
  attempt: number;
}

describe('a replay from the record', () => {
  const clock = new ManualClock();
  let board: Board;
  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: { 'flaky.mjs': FLAKY } });
  });
  afterAll(() => board?.close());

  const executions = async (correlation_id: string): Promise<Listed[]> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id, limit: 500 }).expect(200);
    return (body as { items: Listed[] }).items.reverse();
  };

  /** The artifacts without what differs in every replay: times, and ids of the same correlation. */
  const told = (artifacts: WireArtifact[]) => {
    const places = new Map(artifacts.map(({ id }, index) => [id, index]));
    return artifacts.map(({ type, payload, produced_by, tags }) => {
      const { input_artifact_ids: ids, execution_id, ...rest } = payload;
      const inputs = (ids as string[] | undefined)?.map((id) => places.get(id) ?? id);
      return { type, produced_by, tags, payload: { ...rest, inputs, hasExecution: typeof execution_id === 'string' } };
    });
  };

  test('without a changed agent gives equal artifacts, in order, and invokes no engine', async () => {
    await fc.assert(
      fc.asyncProperty(items, fc.constantFrom('recorded', 'shadow'), async (list, mode) => {
        const run = newId();
        for (const { type, k, n, correlation } of list)
          await board.publish(type, { k: `${run} ${k}`, n }, { correlation: `${run}-${correlation}` });
        for (const id of new Set(list.map(({ correlation }) => `${run}-${correlation}`)))
          await eventually('the original has ended', async () => {
            clock.advance(6_000);
            return (await board.status(id)).state !== 'active';
          });
        const before = calls();
        for (const id of new Set(list.map(({ correlation }) => `${run}-${correlation}`))) {
          const { body } = await board.http.post(`/api/v1/correlations/${id}/replay`).send({ mode }).expect(200);
          const replay = (body as ReplayBody).correlation_id;
          const [original, again] = [await executions(id), await executions(replay)];
          expect(again.every((execution) => execution.replay === 'recorded')).toBe(true);
          expect(again.map(({ agent, state, attempt }) => [agent, state, attempt])).toEqual(
            original.map(({ agent, state, attempt }) => [agent, state, attempt]),
          );
          expect(told(await board.artifacts(replay))).toEqual(told(await board.artifacts(id)));
          expect((await board.status(replay)).state).toBe((await board.status(id)).state);
        }
        expect(calls()).toBe(before);
      }),
      { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 15) },
    );
  });
});
