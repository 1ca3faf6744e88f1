// Uses two apps on one database: each of them has a schedule, and one of them deletes.
import { AT_ONCE, DELETIONS } from '../../src/blackboard/retention/cleanup.js';
import { Retention } from '../../src/blackboard/retention/retention.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import type { Board } from '../e2e/board.js';
import { QueryModel, SPAN_MS, START } from '../e2e/query-model.js';
import { Replicas } from '../e2e/replica-boards.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { CleanedBoard } from './cleaned-board.js';

const CONFIG = `
server: { retain_keys: 1m }
types: { Common: { retain: 1h }, Usual: { retain: 1h } }
agents: {}
`;
const OLD = 2_500;
/** After this time all of it is old. */
const AFTER = (SPAN_MS * 2) / 86_400_000;

const seed = printedSeed();
const replicas = new Replicas();
let model: QueryModel;

beforeAll(() => void (model = new QueryModel(new Random(seed))));
afterAll(() => replicas.close());

const start = async (clock: ManualClock): Promise<CleanedBoard> =>
  new CleanedBoard(await replicas.start(CONFIG, { clock }), clock);

/** Returns how many artifacts each of its cleanups has deleted, from the log. */
const deletedBy = ({ app }: Board): number[] =>
  app.logLines.flatMap(({ deleted }) => (deleted as { artifacts?: number } | undefined)?.artifacts ?? []);

const due = (): number => model.artifacts.filter(({ type }) => type !== 'Rare').length;

/** Stops the first while it waits for its first step, which the second blocks. */
async function cleanUpUntilStopped(first: Board, second: Board): Promise<void> {
  const continued = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<void>();
  const held = second.app.app.get(UnitOfWork, { strict: false }).run(async (tx) => {
    await tx.lock([DELETIONS]);
    holds.resolve();
    await continued.promise;
  });
  await holds.promise;
  const retention = first.app.app.get(Retention, { strict: false });
  const cleaning = retention.run();
  // Other work waits for other locks at times.
  const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = hashtextextended('${DELETIONS}', 0)`;
  await eventually('the cleanup waits', async () => (await first.app.database.rows(waits)).length > 0);
  const stopped = retention.onModuleDestroy();
  continued.resolve();
  await Promise.all([held, cleaning, stopped]);
}

it('one of two with the same schedule deletes all, and each once', async () => {
  const clock = new ManualClock(START);
  const [first, second] = [await start(clock), await start(clock)];
  await model.grow(first.board.app.app.get(UnitOfWork, { strict: false }), OLD);
  clock.advance(AFTER * 86_400_000);
  await first.rollUp();
  await Promise.all([first, second].map(({ board }) => board.app.app.get(Retention, { strict: false }).run()));
  expect([...deletedBy(first.board), ...deletedBy(second.board)]).toEqual([due()]);
  expect(await first.count('artifacts')).toBe(OLD - due());
  expect(await first.metric('blackboard_artifacts_total')).toBe(OLD);
  expect(await second.total({ correlation_id: 'big' })).toBe(
    model.matching({ correlation_id: 'big', type: ['Rare'] }).length,
  );

  // A process that stops during its cleanup leaves the rest to the other.
  const before = due();
  await model.grow(first.board.app.app.get(UnitOfWork, { strict: false }), OLD);
  clock.advance(601_000);
  await first.rollUp();
  await cleanUpUntilStopped(first.board, second.board);
  const step = due() - before - (await second.count('artifacts', `type <> 'Rare'`));
  expect(step).toBeGreaterThan(0);
  expect(step).toBeLessThanOrEqual(AT_ONCE);
  await second.cleanUpAfter(0);
  expect(await second.count('artifacts', `type <> 'Rare'`)).toBe(0);
  expect([...deletedBy(first.board), ...deletedBy(second.board)].reduce((sum, count) => sum + count, 0)).toBe(due());
  expect(await second.metric('blackboard_artifacts_total')).toBe(2 * OLD);
});
