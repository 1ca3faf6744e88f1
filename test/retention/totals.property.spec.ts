// Uses the application, its database and HTTP. The test writes the rows directly to the tables, because publishing so
// many would take minutes; they have the content that publishing writes. The expected results come from lists that are
// filtered completely.
import fc from 'fast-check';

import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { Board } from '../e2e/board.js';
import {
  AGENTS,
  CORRELATIONS,
  KINDS,
  type ModelArtifact,
  type ModelFilter,
  PRODUCERS,
  QueryModel,
  SPAN_MS,
  START,
  TAGS,
  TYPES,
} from '../e2e/query-model.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { CleanedBoard } from './cleaned-board.js';

const HOUR_MS = 3_600_000;
const RETAIN_HOURS: Record<string, number> = { Common: 6, Usual: 2 };
const ROUNDS = 6;
const LOOKS = 12;
const OLD = 11_000;

const CONFIG = `
server: { retain_keys: 1m }
types:
${Object.entries(RETAIN_HOURS)
  .map(([type, hours]) => `  ${type}: { retain: ${hours}h }`)
  .join('\n')}
  New: { retain: 1d }
agents:
${AGENTS.map((name) => `  ${name}: { consumes: [{ types: [Nothing] }], publishes: [{ type: Nothing2 }], engine: { kind: expression, expression: 'null' } }`).join('\n')}
`;

const filters: fc.Arbitrary<ModelFilter> = fc.record(
  {
    type: fc.subarray(TYPES, { minLength: 1 }),
    produced_by: fc.subarray(PRODUCERS, { minLength: 1 }),
    visibility: fc.subarray(KINDS, { minLength: 1 }),
    correlation_id: fc.constantFrom(...CORRELATIONS),
    tag: fc.subarray(TAGS, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** One condition or none: rollups answer these, each in another way. */
const counted: fc.Arbitrary<ModelFilter> = fc.oneof(
  fc.constant({}),
  fc.record({ type: fc.subarray(TYPES, { minLength: 1 }) }),
  fc.record({
    produced_by: fc.subarray(PRODUCERS, { minLength: 1 }),
    visibility: fc.subarray(KINDS, { minLength: 1 }),
  }),
  fc.record({ correlation_id: fc.constantFrom(...CORRELATIONS) }),
);

describe('totals of a long blackboard with many deletions', () => {
  const seed = printedSeed();
  const random = new Random(seed);
  const model = new QueryModel(random);
  const clock = new ManualClock(START + SPAN_MS / 2);
  let board: Board;
  let cleaned: CleanedBoard;
  let unitOfWork: UnitOfWork;
  /** The artifacts that no cleanup has deleted. */
  let kept = new Set<ModelArtifact>();
  let publishedBeside = 0;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, settings: { shutdownGraceMs: 0 } });
    cleaned = new CleanedBoard(board, clock);
    unitOfWork = board.app.app.get(UnitOfWork, { strict: false });
  });

  afterAll(() => board.close());

  const cleanup = async (hours: number): Promise<void> => {
    await cleaned.cleanUpAfter(hours / 24);
    const now = clock.now();
    kept = new Set(
      model.artifacts
        .slice(seen)
        .filter(isYoungAt(now))
        .concat([...kept].filter(isYoungAt(now))),
    );
    seen = model.artifacts.length;
  };
  let seen = 0;
  const isYoungAt =
    (now: number) =>
    ({ type, createdAt }: ModelArtifact): boolean =>
      RETAIN_HOURS[type] === undefined || createdAt > now - RETAIN_HOURS[type] * HOUR_MS;

  it('deletes more than 10,000 artifacts while others are published, none of which fails or waits', async () => {
    await model.grow(unitOfWork, OLD);
    let cleaning = true;
    const took: number[] = [];
    const publishing = Array.from({ length: 4 }, async () => {
      while (cleaning) {
        const begun = performance.now();
        await board.publish('New', {});
        took.push(performance.now() - begun);
      }
    });
    const cleaningBegun = performance.now();
    await cleanup(SPAN_MS / HOUR_MS);
    const cleaningTook = performance.now() - cleaningBegun;
    cleaning = false;
    await Promise.all(publishing);
    publishedBeside = took.length;
    console.log(
      `${OLD - kept.size} deleted while ${publishedBeside} were published; the slowest took ${Math.round(Math.max(...took))} ms`,
    );
    expect(OLD - kept.size).toBeGreaterThan(10_000);
    expect(await cleaned.count('artifacts', `type <> 'New'`)).toBe(kept.size);
    expect(await cleaned.count('artifacts', `type = 'New'`)).toBe(publishedBeside);
    expect(publishedBeside).toBeGreaterThan(0);
    // A cleanup that blocks them would make all four wait for its end; a busy machine delays a few of them, and it.
    expect(took.toSorted((one, other) => one - other)[Math.floor(took.length / 2)]).toBeLessThan(cleaningTook / 5);
  });

  it('count the existing and all published artifacts', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await model.grow(unitOfWork, random.between(1, 400));
      // Artifacts newer than the cleanup are not rolled up yet when they are counted.
      if (random.next() < 0.7) await cleanup(random.between(0, 2));
      await model.grow(unitOfWork, random.between(0, 5));
      const present = [...kept, ...model.artifacts.slice(seen)];
      expect(await cleaned.metric('blackboard_artifacts_total')).toBe(model.artifacts.length + publishedBeside);
      await fc.assert(
        fc.asyncProperty(fc.oneof(counted, filters), (filter) => compare(filter, present)),
        { seed: seed + round, numRuns: LOOKS },
      );
    }
  });

  async function compare(filter: ModelFilter, present: ModelArtifact[]): Promise<void> {
    const expected = model.matching(filter).filter((artifact) => present.includes(artifact));
    // The published ones are of a type that no other condition here names.
    const beside = Object.keys(filter).length === 0 ? publishedBeside : null;
    const query = { ...filter, type: filter.type ?? TYPES };
    const { body } = await board.http.get('/api/v1/artifacts/summary').query(query).expect(200);
    const { summary } = body as {
      summary: { total_count: number; earliest_created_at: string | null; latest_created_at: string | null };
    };
    const times = expected.map(({ createdAt }) => createdAt).sort((one, other) => one - other);
    expect(summary).toMatchObject({
      total_count: expected.length,
      earliest_created_at: wire(times[0]),
      latest_created_at: wire(times.at(-1)),
    });
    expect(await totalOf(query)).toBe(expected.length);
    if (beside !== null) expect(await totalOf({})).toBe(expected.length + beside);
    if (beside === null && filter.correlation_id) expect(await totalOf(filter)).toBe(expected.length);
  }

  async function totalOf(query: object): Promise<number> {
    const { body } = await board.http
      .get('/api/v1/artifacts')
      .query({ ...query, limit: 1 })
      .expect(200);
    return (body as { pagination: { total: number } }).pagination.total;
  }
});

const wire = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());
