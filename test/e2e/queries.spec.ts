import fc from 'fast-check';

import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
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
} from './query-model.js';

// More than every window into which a query is split, the widest with 20,000 steps.
const ARTIFACTS = 24_000;
const RUNS = 150;

const CONFIG = `
agents:
${AGENTS.map((name) => `  ${name}: { consumes: [{ types: [Nothing] }], publishes: [{ type: Nothing2 }], engine: { kind: expression, expression: 'null' } }`).join('\n')}
`;

// Whole seconds, like the artifacts' times: many bounds are equal to one.
const time = fc.integer({ min: -1, max: SPAN_MS / 1_000 }).map((seconds) => START + seconds * 1_000);

const conditions = {
  type: fc.subarray(TYPES, { minLength: 1 }),
  produced_by: fc.subarray(PRODUCERS, { minLength: 1 }),
  visibility: fc.subarray(KINDS, { minLength: 1 }),
  correlation_id: fc.constantFrom(...CORRELATIONS),
  tag: fc.subarray(TAGS, { minLength: 1, maxLength: 3 }),
  from: time,
  to: time,
};
const { type, produced_by, visibility, correlation_id, tag, from, to } = conditions;

// One condition, several that the rollups cover, and any number of any: each takes another path.
const filters: fc.Arbitrary<ModelFilter> = fc.oneof(
  fc.constant({}),
  fc.record({ type }),
  fc.record({ produced_by }),
  fc.record({ correlation_id }),
  fc.record({ tag }),
  fc.record({ from, to }, { requiredKeys: [] }),
  fc.record({ type, produced_by, visibility }, { requiredKeys: [] }),
  { weight: 5, arbitrary: fc.record(conditions, { requiredKeys: [] }) },
);

const pages = fc.record({
  order: fc.constantFrom('asc', 'desc'),
  limit: fc.constantFrom(1, 7, 50, 500),
  offset: fc.oneof(
    fc.constant(0),
    fc.nat({ max: 100 }),
    fc.nat({ max: ARTIFACTS }),
    fc.integer({ min: 20_000, max: 22_000 }),
  ),
});

/**
 * Uses the application, its database and HTTP. The test writes the rows directly to the tables, because publishing so
 * many would take minutes; they have the content that publishing writes. The expected results come from lists that are
 * filtered completely.
 */
describe('queries over a long blackboard', () => {
  const seed = printedSeed();
  const model = new QueryModel(new Random(seed));
  let app: TestApp;
  let unitOfWork: UnitOfWork;

  beforeAll(async () => {
    app = await startApp({ config: CONFIG });
    unitOfWork = app.app.get(UnitOfWork, { strict: false });
    await model.grow(unitOfWork, ARTIFACTS);
    await app.app.get(Rollups, { strict: false }).run();
  });

  afterAll(() => app.close());

  const get = async <T>(path: string, filter: ModelFilter, more: Record<string, unknown> = {}): Promise<T> => {
    const response = await app.http.get(path).query({ ...inWords(filter), ...more });
    expect([response.status, response.text]).toEqual([200, expect.any(String)]);
    return response.body as T;
  };

  const property = <T extends [unknown, ...unknown[]]>(
    arbitraries: { [K in keyof T]: fc.Arbitrary<T[K]> },
    predicate: (...values: T) => Promise<void>,
  ) =>
    fc.assert(
      fc.asyncProperty<T>(...arbitraries, async (...values) => {
        // The newest are not rolled up yet when the query comes.
        await model.grow(unitOfWork, 3);
        await predicate(...values);
      }),
      { seed, numRuns: RUNS },
    );

  it('lists the matches, page by page, with the total', () =>
    property([filters, pages], async (filter, page) => {
      const expected = inOrder(model.matching(filter), page.order);
      const list = await get<List>('/api/v1/artifacts', filter, page);
      expect(list.items.map(({ id }) => id)).toEqual(
        expected.slice(page.offset, page.offset + page.limit).map(({ id }) => id),
      );
      expect(list.pagination).toEqual({ limit: page.limit, offset: page.offset, total: expected.length });
    }));

  it('continues behind an artifact, whether or not that one matches', () =>
    property([filters, pages, fc.nat({ max: ARTIFACTS - 1 })], async (filter, { order, limit }, place) => {
      const behind = order === 'asc' ? model.artifacts.slice(place + 1) : model.artifacts.slice(0, place);
      const matching = new Set(model.matching(filter));
      const expected = inOrder(
        behind.filter((artifact) => matching.has(artifact)),
        order,
      );
      const list = await get<List>('/api/v1/artifacts', filter, { order, limit, after: model.artifacts[place]!.id });
      expect(list.items.map(({ id }) => id)).toEqual(expected.slice(0, limit).map(({ id }) => id));
      expect(list.pagination.total).toBe(matching.size);
    }));

  it('summarizes the matches', () =>
    property([filters], async (filter) => {
      const { summary } = await get<{ summary: object }>('/api/v1/artifacts/summary', filter);
      expect(summary).toEqual(summaryOf(model.matching(filter), filter));
    }));

  it("sums up the agents' histories", () =>
    property([filters, fc.constantFrom(...AGENTS)], async (filter, agent) => {
      const { summary } = await get<{ summary: object }>(`/api/v1/agents/${agent}/history-summary`, filter);
      const timeline = model.history(agent, filter);
      const sum = (column: string): number => Object.values(timeline).reduce((total, hour) => total + hour[column]!, 0);
      expect(summary).toEqual({
        total_executions: sum('executions'),
        total_artifacts_consumed: sum('artifacts_consumed'),
        total_artifacts_produced: sum('artifacts_produced'),
        execution_timeline: timeline,
      });
    }));

  it('counts the same in the metrics', async () => {
    const { text } = await app.http.get('/metrics');
    expect(text).toContain(`\nblackboard_artifacts_total ${model.artifacts.length}\n`);
    expect(text).toContain(`\nblackboard_executions_total ${model.executions.length}\n`);
  });

  it('lets other queries run while it reads many rows', async () => {
    /** Returns whether queries that started after the long one finished before it. */
    const letsIn = async (): Promise<boolean> => {
      const walk = get('/api/v1/artifacts/summary', { tag: ['most'], from: START });
      let ended = false;
      void walk.then(() => (ended = true));
      for (let n = 0; n < 3; n += 1)
        expect((await app.http.get(`/api/v1/artifacts/${model.artifacts[n]!.id}`)).status).toBe(200);
      const isFirst = !ended;
      await walk;
      return isFirst;
    };
    // A busy machine may delay the short ones; one that has to wait for the long one does so every time.
    await eventually('other queries run', letsIn);
  });
});

interface List {
  items: { id: string }[];
  pagination: { limit: number; offset: number; total: number };
}

function inWords({ from, to, ...filter }: ModelFilter): Record<string, unknown> {
  return {
    ...filter,
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
}

const inOrder = (artifacts: ModelArtifact[], order: string): ModelArtifact[] =>
  order === 'asc' ? artifacts : artifacts.toReversed();

function summaryOf(artifacts: ModelArtifact[], filter: ModelFilter): object {
  const count = (names: string[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  };
  const times = artifacts.map(({ createdAt }) => createdAt).sort((a, b) => a - b);
  const timestamp = (epochMs: number | undefined): string | null =>
    epochMs === undefined ? null : new Date(epochMs).toISOString();
  return {
    total_count: artifacts.length,
    by_type: count(artifacts.map(({ type }) => type)),
    by_producer: count(artifacts.map(({ producer }) => producer)),
    by_visibility: count(artifacts.map(({ kind }) => kind)),
    ...((filter.correlation_id !== undefined || filter.tag !== undefined) && {
      by_tag: count(artifacts.flatMap(({ tags }) => tags)),
    }),
    earliest_created_at: timestamp(times[0]),
    latest_created_at: timestamp(times.at(-1)),
  };
}
