import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import { orders } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: function, module: ./double.js }
  failing:
    consumes: [{ types: [Number], where: payload.n >= 120.0 }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: 'payload.missing' }
    retry: { attempts: 1 }
`;

const ARTIFACTS = 'select count(*) as count from artifacts';
const EXECUTIONS = `select count(*) as count from executions where state in ('completed', 'failed')`;

/** Uses two apps over HTTP on one Postgres. Each of them rolls up as fast as it can while both are published to. */
describe('two processes that roll up at the same time under load', () => {
  const replicas = new Replicas();
  const boards: Board[] = [];
  const random = new Random(printedSeed());

  beforeAll(async () => {
    for (let n = 0; n < 2; n += 1) boards.push(await replicas.start(CONFIG, { files: QUEUED, role: WORKER }));
  });

  afterAll(() => replicas.close());

  const any = (): Board => boards[random.between(0, 1)]!;
  const rollUp = (board: Board): Promise<void> => board.app.app.get(Rollups, { strict: false }).run();

  const count = async (query: string): Promise<number> =>
    (await boards[0]!.app.database.rows<{ count: number }>(query))[0]!.count;

  async function totalsOf(
    board: Board,
  ): Promise<{ artifacts: number; executions: number; listed: number; summed: number }> {
    const [metrics, list, summary] = await Promise.all(
      ['/metrics', '/api/v1/artifacts?limit=1', '/api/v1/artifacts/summary'].map((path) =>
        board.http.get(path).expect(200),
      ),
    );
    const metric = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics!.text)![1]);
    return {
      artifacts: metric('blackboard_artifacts_total'),
      executions: metric('blackboard_executions_total'),
      listed: (list!.body as { pagination: { total: number } }).pagination.total,
      summed: (summary!.body as { summary: { total_count: number } }).summary.total_count,
    };
  }

  it('return correct totals at every moment and at the end', async () => {
    let isOver = false;
    const untilOver = async (work: () => Promise<void>): Promise<void> => {
      while (!isOver) await work();
    };
    const load = async (): Promise<void> => {
      const ids: string[] = [];
      for (let first = 0; first < 160; first += 20) {
        ids.push(...(await Promise.all(orders(20).map((_, n) => any().publish('Number', { n: first + n })))));
      }
      for (const id of ids) await any().ended(id);
    };
    const check = async (): Promise<void> => {
      const [artifacts, executions] = [await count(ARTIFACTS), await count(EXECUTIONS)];
      const totals = await totalsOf(any());
      const later = [await count(ARTIFACTS), await count(EXECUTIONS)] as const;
      for (const total of [totals.artifacts, totals.listed, totals.summed]) {
        expect(total).toBeGreaterThanOrEqual(artifacts);
        expect(total).toBeLessThanOrEqual(later[0]);
      }
      expect(totals.executions).toBeGreaterThanOrEqual(executions);
      expect(totals.executions).toBeLessThanOrEqual(later[1]);
    };
    const others = Promise.all([...boards.map((board) => untilOver(() => rollUp(board))), untilOver(check)]);
    await Promise.all([load().finally(() => (isOver = true)), others]);

    // A Number and a Doubled each, and 40 WorkflowErrors.
    expect(await count(ARTIFACTS)).toBe(360);
    expect(await count(EXECUTIONS)).toBe(200);
    const expected = { artifacts: 360, executions: 200, listed: 360, summed: 360 };
    for (const board of boards) expect(await totalsOf(board)).toEqual(expected);
    await eventually('all is rolled up', async () => {
      await Promise.all(boards.map(rollUp));
      return (
        (await count('select cast(sum(count) as bigint) as count from artifact_counts')) >= 360 &&
        (await count('select cast(sum(executions) as bigint) as count from activity_hours')) >= 200
      );
    });
    for (const board of boards) expect(await totalsOf(board)).toEqual(expected);
    // Nothing is left to roll up, and nothing was rolled up twice.
    expect(await count('select cast(sum(count) as bigint) as count from artifact_counts')).toBe(360);
    expect(await count('select cast(sum(executions) as bigint) as count from activity_hours')).toBe(200);
  });

  it('give every artifact a unique place in one order', async () => {
    const pages = await Promise.all(
      boards.map(async (board) => {
        const ids: string[] = [];
        for (let offset = 0; offset < 360; offset += 500) {
          const { body } = await board.http.get('/api/v1/artifacts').query({ limit: 500, offset }).expect(200);
          ids.push(...(body as { items: { id: string }[] }).items.map(({ id }) => id));
        }
        return ids;
      }),
    );
    expect(new Set(pages[0]).size).toBe(360);
    expect(pages[1]).toEqual(pages[0]);
  });
});
