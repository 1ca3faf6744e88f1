// Experiments over HTTP that are cancelled, whose process loses its lock, and whose stored rows are broken. What a crash
// or another process would have stored is written into the database while no process uses it.
import { ExperimentLoop } from '../../src/features/experiments/experiment-loop.js';
import { changeStored } from '../faults/change-stored.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { Experiments, variantOf } from './experiment-board.js';
import { Outside } from './outside.js';
import { SERVER, WORKER } from './replica-boards.js';

const CONFIG = `
types:
  Row: { schema: { type: object, required: [n], properties: { n: { type: integer } } } }
agents:
  clerk: { consumes: [{ types: [Row] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": int(payload.n) % 2 == 1}' } }
  other: { consumes: [{ types: [Row], where: 'false' }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": true}' } }
  quick: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: expression, expression: '{"score": 0.5}' } }
  late: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: external } }
  never: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: external } }
`;

const ofRows = (rows: number) => ({
  data: { csv: `n,odd\n${Array.from({ length: rows }, (_, n) => `${n},${n % 2 === 1}\n`).join('')}`, agent: 'clerk' },
  expected: { column: 'odd' },
  output: 'Done',
  variants: [{ name: 'clerk' }, { name: 'other', agent: 'other' }],
  scorers: [{ name: 'right', kind: 'equals', path: '/odd' }],
});

/** After each insert of trials, another process seems to have the lock. */
const TAKE_LOCK = `update scheduler_locks set due_at = due_at + 1 where name = 'experiments'`;
const LOSING_LOCK =
  TEST_DATABASE === 'postgres'
    ? [
        `create function lose_lock() returns trigger language plpgsql as $$ begin ${TAKE_LOCK}; return null; end $$`,
        `create trigger lose_lock after insert on experiment_trials execute function lose_lock()`,
      ]
    : [`create trigger lose_lock after insert on experiment_trials begin ${TAKE_LOCK}; end`];
const KEEPING_LOCK = `drop trigger lose_lock${TEST_DATABASE === 'postgres' ? ' on experiment_trials' : ''}`;

describe('an experiment', () => {
  let clock: ManualClock | undefined;
  let folder: ConfigurationFolder;
  let board: Board;
  let experiments: Experiments;

  const start = async (role = WORKER): Promise<void> => {
    board = await Board.start(CONFIG, { folder: folder.path, role, clock, settings: { shutdownGraceMs: 0 } });
    experiments = new Experiments(board.http);
  };
  const count = async (query: string): Promise<number> => {
    const [row] = await board.app.database.rows<{ count: string }>(`select count(*) as count from ${query}`);
    return Number(row!.count);
  };
  /** Stores an experiment that no process continues, and then changes the database. */
  const stored = async (rows: number, ...changes: string[]): Promise<string> => {
    await start(SERVER);
    const id = await experiments.start(ofRows(rows));
    await board.close();
    await changeStored(board.app.database.url, ...changes);
    return id;
  };

  /** Resolves when the process can continue nothing. */
  const continued = (): Promise<void> => board.app.app.get(ExperimentLoop, { strict: false }).run();

  beforeEach(() => {
    clock = undefined;
    folder = new ConfigurationFolder();
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  test('that is cancelled has a summary of exactly the trials that had ended', async () => {
    await start();
    const id = await experiments.start(ofRows(1_000));
    await eventually('some trials have ended', async () => (await experiments.get(id)).ended_trials > 0);
    const { body } = await board.http.post(`/api/v1/experiments/${id}/cancel`).send({}).expect(200);
    expect(body).toMatchObject({ state: 'cancelled' });
    await eventually('none is open', async () => (await count(`experiment_trials where state <> 'ended'`)) === 0);
    const { summary, ended_trials } = await experiments.get(id);
    const summarized = summary!.variants.reduce((sum, { trials }) => sum + trials, 0);
    expect(summarized).toBeGreaterThan(0);
    expect(summarized).toBe(await count('experiment_trials where error is null'));
    expect(await count(`experiment_trials where error = 'the experiment was cancelled'`)).toBe(
      ended_trials - summarized,
    );
  });

  test('that was cancelled before a crash gets its summary after it, and no trial of it begins', async () => {
    const id = await stored(5, 'update experiments set ended_at = created_at');
    await start(SERVER);
    const cancelled = await experiments.get(id);
    expect(cancelled).toMatchObject({ state: 'running' });
    expect(cancelled).not.toHaveProperty('ended_at');
    await board.close();
    await start();
    expect(await experiments.ended(id)).toMatchObject({
      state: 'cancelled',
      ended_at: expect.any(String) as string,
      ended_trials: 0,
      summary: { baseline: 'clerk', variants: [{ trials: 0 }, { trials: 0 }] },
    });
    expect(await count('experiment_trials')).toBe(0);
  });

  test('begins no trial in a process that has lost its lock', async () => {
    clock = new ManualClock();
    const id = await stored(5, ...LOSING_LOCK);
    await start();
    await eventually('trials are stored', async () => (await count('experiment_trials')) > 0);
    await continued();
    expect(await count('correlations')).toBe(0);
    await board.close();
    await changeStored(board.app.database.url, KEEPING_LOCK);
    clock.advance(60_000);
    await start();
    expect(await experiments.ended(id)).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 0 });
    expect(await count('correlations')).toBe(10);
  });

  test('tries a trial that fails again after a pause, and ends it at last', async () => {
    clock = new ManualClock();
    const rows = 40;
    const id = await stored(rows, `update experiment_rows set inputs = '{' where position = 0`);
    await start();
    await eventually('all others have ended', async () => (await experiments.get(id)).ended_trials === 2 * rows - 2);
    expect(await experiments.get(id)).toMatchObject({ state: 'running', failed_trials: 0 });
    await eventually('it has ended', async () => {
      clock!.advance(60_000);
      await continued();
      return (await experiments.get(id)).state !== 'running';
    });
    const done = await experiments.get(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 2 * rows, failed_trials: 2 });
    expect(variantOf(done, 'clerk')).toMatchObject({ trials: rows, failed_trials: 1 });
    const [row] = await experiments.rows(id, { limit: 1 });
    expect(row!.trials.map(({ error }) => error)).toEqual(
      Array(2).fill("an internal error stopped the trial; see the service's log"),
    );
  });

  test('keeps the output and the scores of a judged trial that fails again and again, and cancels its judges', async () => {
    clock = new ManualClock();
    await start();
    const judges = ['quick', 'late', 'never'].map((agent) => ({ name: agent, kind: 'judge', agent }));
    const id = await experiments.start({ ...ofRows(1), scorers: [...ofRows(1).scorers, ...judges] });
    await eventually('one judge of each trial has answered', async () => {
      await continued();
      return (await count(`experiment_trials where scores like '%artifact_id%'`)) === 2;
    });
    await eventually('the others have begun', async () => {
      await continued();
      return (await count(`executions where agent in ('late', 'never')`)) === 4;
    });
    // The second judge answers while no process continues the experiment, and its answer is broken.
    await board.close();
    await start(SERVER);
    const outside = new Outside(board.http);
    for (let answered = 0; answered < 2; answered += 1) {
      const [held] = await outside.claim({ agents: ['late'], max: 1 });
      expect(await outside.send(held!, 'complete', { output: { score: 1 } })).toMatchObject({ status: 200 });
    }
    await board.close();
    await changeStored(
      board.app.database.url,
      `update artifacts set payload = '{' where produced_by = 'late'`,
      `update correlations set input_tokens = 7, output_tokens = 2 where origin in (select correlation_id from experiment_trials)`,
    );
    await start();
    await eventually('it has ended', async () => {
      clock!.advance(60_000);
      await continued();
      return (await experiments.get(id)).state !== 'running';
    });
    expect(await experiments.get(id)).toMatchObject({
      state: 'completed',
      ended_trials: 2,
      failed_trials: 0,
      usage: { input_tokens: 6 * 7, output_tokens: 6 * 2 },
    });
    const [row] = await experiments.rows(id);
    const stopped = { score: null, error: "an internal error stopped the trial; see the service's log" };
    expect(row!.trials).toMatchObject(
      [
        { output: '{"odd":false}', score: 1 },
        { output: '{"odd":true}', score: 0 },
      ].map(({ output, score }) => ({ output, scores: [{ score }, { score: 0.5 }, stopped, stopped] })),
    );
    expect(await count(`correlations where state = 'cancelled'`)).toBe(2);
    expect(await count(`correlations where state = 'active'`)).toBe(0);
  });
});
