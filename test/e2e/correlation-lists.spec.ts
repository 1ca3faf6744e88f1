import fc from 'fast-check';

import { toCursor } from '../../src/common/page-cursor.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { termsOf } from '../faults/invariants.js';
import { startApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { Board } from './board.js';
import { CorrelationModel, type ModelFilter, PREFIXES, SPAN_MS, START, STATES, TERMS } from './correlation-model.js';

const CONFIG = `
types: { Note: {} }
agents:
  first: { consumes: [{ types: [Order] }], publishes: [{ type: Checked, tags: [checked] }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  second: { consumes: [{ types: [Checked] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  unlucky: { consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], engine: { kind: expression, expression: payload.missing }, retry: { attempts: 1 } }
  person: { consumes: [{ types: [Question] }], publishes: [{ type: Answer }], engine: { kind: external } }
`;

interface Listed {
  correlation_id: string;
  state: string;
  has_pending_work: boolean;
  pending_count: number;
  artifact_count: number;
  error_count: number;
  started_at: string;
  last_activity_at: string;
  settled_at: string | null;
  duration_ms: number | null;
}

interface Page {
  items: Listed[];
  pagination: { limit: number; after: string | null; next: string | null; has_more: boolean };
}

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('the list of correlations', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
  });

  afterAll(() => board.close());

  const page = async (query: object): Promise<Page> => {
    const { body } = await board.http.get('/api/v1/correlations').query(query).expect(200);
    return body as Page;
  };
  const ids = async (query: object): Promise<string[]> =>
    (await page(query)).items.map(({ correlation_id }) => correlation_id);
  const refused = async (query: object): Promise<[number, string]> => {
    const { status, body } = await board.http.get('/api/v1/correlations').query(query);
    return [status, (body as { detail: string }).detail];
  };

  it('is empty at first', async () => {
    expect(await page({})).toEqual({
      items: [],
      pagination: { limit: 50, after: null, next: null, has_more: false },
    });
  });

  it('finds correlations by state, agent, type, tag, start and prefix, newest first', async () => {
    const publish = async (type: string, correlation: string, tags: string[] = []): Promise<void> => {
      clock.advance(1_000);
      await board.publish(type, { n: 1 }, { correlation, tags });
      if (type !== 'Question') await board.ended(correlation);
    };
    await publish('Order', 'order-1', ['vip']);
    await publish('Doomed', 'doomed-1');
    await publish('Question', 'question-1');
    await publish('Order', 'order-2');
    await publish('Question', 'question-2', ['vip']);
    await publish('Note', 'note-1', ['vip', 'checked']);

    expect(await ids({})).toEqual(['note-1', 'question-2', 'order-2', 'question-1', 'doomed-1', 'order-1']);
    expect(await ids({ state: 'active' })).toEqual(['question-2', 'question-1']);
    expect(await ids({ state: 'completed' })).toEqual(['note-1', 'order-2', 'order-1']);
    expect(await ids({ state: 'failed' })).toEqual(['doomed-1']);
    expect(await ids({ state: 'cancelled' })).toEqual([]);
    expect(await ids({ agent: 'second' })).toEqual(['order-2', 'order-1']);
    expect(await ids({ agent: 'person' })).toEqual(['question-2', 'question-1']);
    expect(await ids({ agent: 'absent' })).toEqual([]);
    expect(await ids({ type: 'Done' })).toEqual(['order-2', 'order-1']);
    expect(await ids({ type: 'WorkflowError' })).toEqual(['doomed-1']);
    expect(await ids({ tag: 'vip' })).toEqual(['note-1', 'question-2', 'order-1']);
    expect(await ids({ tag: 'checked' })).toEqual(['note-1', 'order-2', 'order-1']);
    expect(await ids({ tag: 'checked', agent: 'first', id_prefix: 'order-', state: 'completed' })).toEqual([
      'order-2',
      'order-1',
    ]);
    expect(await ids({ id_prefix: 'o' })).toEqual(['order-2', 'order-1']);
    const { started_at: at } = (await page({ id_prefix: 'question-1' })).items[0]!;
    expect(await ids({ from: at })).toEqual(['note-1', 'question-2', 'order-2', 'question-1']);
    expect(await ids({ from: at, to: at })).toEqual(['question-1']);
    expect(await ids({ to: at, type: 'Order' })).toEqual(['order-1']);
  });

  it('shows what the status shows, with how long it took and what is pending', async () => {
    for (const item of (await page({})).items) {
      const { settled_at, duration_ms, pending_count, ...status } = item;
      expect(status).toEqual(await board.status(item.correlation_id));
      const isActive = item.state === 'active';
      expect(pending_count).toBe(isActive ? 1 : 0);
      expect(settled_at === null).toBe(isActive);
      expect(duration_ms).toBe(isActive ? null : new Date(settled_at!).getTime() - new Date(item.started_at).getTime());
    }
  });

  it('moves a correlation to its new state, and leaves it at its place', async () => {
    clock.advance(1_000);
    await board.publish('Question', { n: 2 }, { correlation: 'order-1' });
    expect(await ids({ state: 'active' })).toEqual(['question-2', 'question-1', 'order-1']);
    expect(await ids({ agent: 'person' })).toEqual(['question-2', 'question-1', 'order-1']);
    await board.http.post('/api/v1/correlations/question-2/cancel').expect(200);
    await board.http.post('/api/v1/correlations/order-1/cancel').expect(200);
    expect(await ids({ state: 'active' })).toEqual(['question-1']);
    const { items } = await page({ state: 'cancelled' });
    expect(items).toMatchObject([
      { correlation_id: 'question-2', pending_count: 0 },
      { correlation_id: 'order-1', pending_count: 0, duration_ms: expect.any(Number) as number },
    ]);
    expect(await board.app.database.look(termsOf)).toEqual([]);
  });

  it.each([{}, { state: 'completed' }, { agent: 'person' }, { id_prefix: 'order-', type: 'Order' }])(
    'continues after the last correlation of a page (%j)',
    async (filter) => {
      const all = await ids(filter);
      for (const limit of [1, 2, 4, 6]) {
        const seen: string[] = [];
        for (let after: string | null = null, more = true; more;) {
          const { items, pagination }: Page = await page({ ...filter, limit, ...(after !== null && { after }) });
          seen.push(...items.map(({ correlation_id }) => correlation_id));
          const has_more = seen.length < all.length;
          expect(pagination).toEqual({ limit, after, next: has_more ? expect.any(String) : null, has_more });
          more = has_more;
          after = pagination.next;
        }
        expect(seen).toEqual(all);
      }
    },
  );

  it.each([
    [{ state: 'done' }, 'state: must be one of active, completed, failed, cancelled'],
    [{ after: 'order-1' }, 'after: must be next of an earlier page with the same filters (got "order-1")'],
    [{ after: toCursor([1]) }, `after: must be next of an earlier page with the same filters (got "${toCursor([1])}")`],
    [{ id_prefix: '' }, 'id_prefix: must be 1 to 200 visible ASCII characters'],
    [{ id_prefix: 'an id' }, 'id_prefix: must be 1 to 200 visible ASCII characters'],
    [{ id_prefix: 'x'.repeat(201) }, 'id_prefix: must be 1 to 200 visible ASCII characters'],
    [
      { from: 'yesterday' },
      'Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
    ],
    [{ limit: 501 }, 'limit: must be a whole number from 1 to 500'],
    [{ agent: ['first', 'second'] }, 'agent: must be given once'],
  ])('refuses %j', async (query, detail) => {
    expect(await refused(query)).toEqual([400, detail]);
  });
});

// More than each of the parts in which a page is searched, the largest with 1,000 correlations.
const CORRELATIONS = 6_000;
const RUNS = 120;

const time = fc.integer({ min: -1, max: SPAN_MS / 1_000 }).map((seconds) => START + seconds * 1_000);
const term = fc.constantFrom(...TERMS);
const conditions = {
  state: fc.constantFrom(...STATES),
  agent: term,
  type: term,
  tag: term,
  from: time,
  to: time,
  id_prefix: fc.constantFrom(...PREFIXES),
};
const filters: fc.Arbitrary<ModelFilter> = fc.oneof(
  fc.constant({}),
  ...Object.entries(conditions).map(([name, values]) =>
    (values as fc.Arbitrary<unknown>).map((value) => ({ [name]: value })),
  ),
  { weight: 10, arbitrary: fc.record(conditions, { requiredKeys: [] }) },
);

/**
 * Uses the application, its database and HTTP. The test writes the rows directly to the tables, because publishing so
 * many would take minutes; they have the content that publishing writes. The expected results come from a list that is
 * filtered completely.
 */
describe('a long list of correlations', () => {
  const seed = printedSeed();
  const model = new CorrelationModel(new Random(seed));
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ config: 'types: {}' });
    await model.grow(app.app.get(UnitOfWork, { strict: false }), CORRELATIONS);
  });

  afterAll(() => app.close());

  it('has the same pages as a list that is filtered completely', () =>
    fc.assert(
      fc.asyncProperty(
        filters,
        fc.constantFrom(1, 7, 50, 500),
        fc.option(fc.nat({ max: CORRELATIONS - 1 }), { nil: undefined }),
        async (filter, limit, place) => {
          const last = place === undefined ? undefined : model.correlations[place]!;
          const matching = model.matching(filter);
          const expected = last
            ? matching.filter(
                ({ startedAt, seq }) => startedAt < last.startedAt || (startedAt === last.startedAt && seq < last.seq),
              )
            : matching;
          const { from, to, ...others } = filter;
          const after = last ? toCursor([last.startedAt, last.seq]) : null;
          const response = await app.http.get('/api/v1/correlations').query({
            ...others,
            ...(from !== undefined && { from: new Date(from).toISOString() }),
            ...(to !== undefined && { to: new Date(to).toISOString() }),
            ...(after !== null && { after }),
            limit,
          });
          expect([response.status, response.text]).toEqual([200, expect.any(String)]);
          const { items, pagination } = response.body as Page;
          expect(items.map(({ correlation_id }) => correlation_id)).toEqual(
            expected.slice(0, limit).map(({ id }) => id),
          );
          const next = expected.length > limit ? expected[limit - 1]! : undefined;
          expect(pagination).toEqual({
            limit,
            after,
            next: next ? toCursor([next.startedAt, next.seq]) : null,
            has_more: next !== undefined,
          });
        },
      ),
      { seed, numRuns: RUNS },
    ));
});
