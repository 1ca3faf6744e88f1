// A cleanup locks the correlations of what it deletes, and an execution can have inputs of other correlations.
import { Retention } from '../../src/blackboard/retention/retention.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { Board } from '../e2e/board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard, DAY_MS } from './cleaned-board.js';

const CONFIG = `
server: { retain_keys: 1m }
types: { Left: { retain: 1h } }
agents:
  fragile:
    consumes: [{ types: [Left, Right], join: { by: payload.key } }]
    publishes: [{ type: Made }]
    engine: { kind: function, module: ./fragile.js }
    retry: { attempts: 1 }
`;

const FRAGILE = `export default async () => { throw new Error('broken'); };`;

/** Runs until it is released: no transaction counts what it deletes before. */
async function holdCounts(unitOfWork: UnitOfWork): Promise<() => Promise<void>> {
  const continued = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<void>();
  const held = unitOfWork.run(async ({ db }) => {
    await db.selectFrom('artifact_counts').selectAll().forUpdate().execute();
    holds.resolve();
    await continued.promise;
  });
  await holds.promise;
  return async () => {
    continued.resolve();
    await held;
  };
}

it('a failed execution is not retried on inputs of another correlation while they are being deleted', async () => {
  const clock = new ManualClock();
  const board = await Board.start(CONFIG, { clock, files: { 'fragile.js': FRAGILE } });
  const cleaned = new CleanedBoard(board, clock);
  await board.publish('Left', { key: 1 }, { correlation: 'left' });
  await board.publish('Right', { key: 1 }, { correlation: 'right' });
  await eventually('it has failed', async () => (await board.status('right')).error_count === 1);
  const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: 'right' }).expect(200);
  const [{ id }] = (body as { items: [{ id: string }] }).items;
  clock.advance(DAY_MS);
  await cleaned.rollUp();

  const waiting = async (): Promise<number> => {
    const [row] = await board.app.database.rows<{ count: string }>(
      `select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event in ('advisory', 'transactionid', 'tuple')`,
    );
    return Number(row!.count);
  };
  const releaseCounts = await holdCounts(board.app.app.get(UnitOfWork, { strict: false }));
  const cleanup = board.app.app.get(Retention, { strict: false }).run();
  await eventually('the cleanup has deleted, and waits to count it', async () => (await waiting()) === 1);
  let answered = false;
  const retry = board.http.post(`/api/v1/executions/${id}/retry`).then((answer) => {
    answered = true;
    return answer;
  });
  await eventually('the retry waits for it, or does not', async () => answered || (await waiting()) === 2);
  await releaseCounts();
  await cleanup;

  expect(await cleaned.count('artifacts', `type = 'Left'`)).toBe(0);
  const { status, body: refusal } = await retry;
  expect([status, refusal]).toEqual([
    409,
    { detail: `Execution ${id} cannot be retried: its inputs have been deleted` },
  ]);
  expect(await board.status('right')).toMatchObject({ state: 'failed', has_pending_work: false });
  await board.close();
});
