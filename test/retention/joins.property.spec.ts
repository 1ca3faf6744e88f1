// Uses the application, its database and HTTP. The test sets the clock and the time of a deletion. The model is a queue
// for each type, from which expired artifacts are removed.
import fc from 'fast-check';

import { Board } from '../e2e/board.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed } from '../support/random.js';
import { CleanedBoard, DAY_MS } from './cleaned-board.js';

const TYPES = ['A', 'B', 'C'] as const;
const RETAIN_DAYS = 30;

const CONFIG = `
types: { A: { retain: ${RETAIN_DAYS}d }, B: { retain: ${RETAIN_DAYS}d }, C: { retain: ${RETAIN_DAYS}d } }
agents:
  joiner:
    consumes: [{ types: [A, B, C], join: { by: payload.key } }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: '{"ns": [payload.A.n, payload.B.n, payload.C.n]}' }
`;

type Step = { publish: (typeof TYPES)[number] } | { cleanUpAfterDays: number };

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ publish: fc.constantFrom(...TYPES) }) },
    { weight: 1, arbitrary: fc.record({ cleanUpAfterDays: fc.integer({ min: 1, max: 20 }) }) },
  ),
  { maxLength: 25 },
) as fc.Arbitrary<Step[]>;

const clock = new ManualClock();
let board: Board;
let cleaned: CleanedBoard;

beforeAll(async () => {
  board = await Board.start(CONFIG, { clock });
  cleaned = new CleanedBoard(board, clock);
});

afterAll(() => board.close());

it('a join continues with the remaining artifacts as if the deleted ones had never arrived', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const key = `run-${(runs += 1)}`;
      const waiting = {
        A: [] as { n: number; at: number }[],
        B: [] as { n: number; at: number }[],
        C: [] as { n: number; at: number }[],
      };
      const joined: number[][] = [];
      const given: unknown[] = [];
      for (const [n, step] of list.entries()) {
        if ('publish' in step) {
          waiting[step.publish].push({ n, at: clock.now() });
          if (TYPES.every((type) => waiting[type].length > 0))
            joined.push(TYPES.map((type) => waiting[type].shift()!.n));
          const correlation = await board.publish(step.publish, { key, n });
          await board.ended(correlation);
          given.push(...(await board.artifacts(correlation, { type: 'Joined' })).map(({ payload }) => payload.ns));
        } else {
          await cleaned.cleanUpAfter(step.cleanUpAfterDays);
          for (const type of TYPES)
            waiting[type] = waiting[type].filter(({ at }) => at > clock.now() - RETAIN_DAYS * DAY_MS);
        }
      }
      expect(given).toEqual(joined);
      expect(await left(key)).toEqual(
        TYPES.flatMap((type) => waiting[type].map(({ n }) => n)).sort((one, other) => one - other),
      );
    }),
    { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 25) },
  );
});

/** Returns the waiting artifacts of this run, each in the group of its place in the sequence. */
async function left(key: string): Promise<number[]> {
  const rows = await board.app.database.rows<{
    payload: string;
    ordinal: number;
    own: number;
    size: number;
    type: string;
    group_id: string;
  }>(
    `select payload, join_groups.ordinal, join_arrivals.ordinal as own, size, join_arrivals.type, group_id from join_arrivals
     join join_groups on join_groups.id = group_id join artifacts on artifacts.seq = artifact_seq
     where join_groups."key" = '"${key}"' order by artifact_seq`,
  );
  for (const members of Map.groupBy(rows, ({ group_id }) => group_id).values()) {
    expect(members.map(({ own, size }) => [Number(own), Number(size)])).toEqual(
      members.map(({ ordinal }) => [Number(ordinal), members.length]),
    );
  }
  return rows.map(({ payload }) => (JSON.parse(payload) as { n: number }).n);
}
