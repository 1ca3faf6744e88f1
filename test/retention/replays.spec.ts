// Replays and experiments over HTTP whose originals retention has deleted, or some of them. The clock is moved by the test.
import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import { ExperimentLoop } from '../../src/features/experiments/experiment-loop.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { Board } from '../e2e/board.js';
import { comparisonOf, Experiments, variantOf } from '../e2e/experiment-board.js';
import { Outside } from '../e2e/outside.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard } from './cleaned-board.js';

const CONFIG = `
server: { retain_keys: 1m, retain_executions: 1d, retain_runs: 1d, retain_batches: 30d }
types: { Form: {}, Stamp: {}, Slip: { retain: 1d }, Note: { retain: 1d }, Call: { retain: 1d }, Answer: { retain: 1d } }
agents:
  stamper:
    consumes: [{ types: [Form] }]
    publishes: [{ type: Stamp }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  slipper:
    consumes: [{ types: [Form], where: 'payload.n == 2' }, { types: [Note] }]
    publishes: [{ type: Slip }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  desk:
    consumes: [{ types: [Call] }]
    publishes: [{ type: Answer }]
    engine: { kind: external }
    timeout: 3000d
`;

const GONE = 'Correlation not found: gone; retention may have deleted it';
const IN_PART = 'Retention has deleted 1 of the 3 artifacts of correlation in-part, so it cannot be replayed';
const UNRECORDED =
  'Retention has deleted executions of correlation unrecorded, so its record is not complete; replay it with mode full';
const OVERRIDES = { stamper: { expression: '{"n": payload.n + 1.0}' } };
const VARIANTS = [{ name: 'now' }, { name: 'more', overrides: OVERRIDES }];

describe('of what retention has deleted', () => {
  const clock = new ManualClock();
  let board: Board;
  let experiments: Experiments;
  let cleaned: CleanedBoard;
  let note: string;
  let batch: string;

  const publish = async (correlation: string, type: string, n: number): Promise<void> => {
    await board.publishSync(type, { n }, { correlation });
    await board.ended(correlation);
  };
  const runBatch = async (): Promise<string> => {
    const inputs = [{ n: 7 }, { n: 8 }];
    const { body } = await board.http
      .post('/run/batch')
      .send({ agent_name: 'stamper', batch_inputs: inputs })
      .expect(200);
    const { batch_id: id } = body as { batch_id: string };
    await eventually('the batch has ended', async () => {
      const answer = await board.http.get(`/batch/${id}`).expect(200);
      return (answer.body as { status: string }).status === 'completed';
    });
    return id;
  };
  /** Nothing looks at experiments from time to time. */
  const ended = async (id: string): Promise<ExperimentBody> => {
    await eventually('the experiment has ended', async () => {
      await board.app.app.get(ExperimentLoop, { strict: false }).run();
      return (await experiments.get(id)).state !== 'running';
    });
    return experiments.get(id);
  };
  const run = async (body: object): Promise<ExperimentBody> => ended(await experiments.start(body));
  const refused = async (path: string, status: number, detail: string, body: object = {}): Promise<void> => {
    for (const mode of ['full', 'recorded', 'shadow']) {
      const answer = await board.http.post(`/api/v1/${path}/replay`).send({ mode, ...body });
      expect([path, mode, answer.status, answer.body]).toEqual([path, mode, status, { detail }]);
    }
  };

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
    experiments = new Experiments(board.http);
    await publish('gone', 'Note', 1);
    await publish('in-part', 'Form', 2);
    await publish('unrecorded', 'Form', 3);
    note = (await board.artifacts('gone', { type: 'Note' }))[0]!.id;
    batch = await runBatch();
    cleaned = new CleanedBoard(board, clock);
    await cleaned.cleanUpAfter(2);
    await cleaned.cleanUpAfter(2);
    await publish('whole', 'Form', 4);
  });
  afterAll(() => board?.close());

  test('a replay is refused with the reason, also with overrides, and stores nothing', async () => {
    const before = await cleaned.count('correlations');
    await refused('correlations/gone', 404, GONE);
    await refused('correlations/gone', 404, GONE, { overrides: OVERRIDES });
    await refused(`artifacts/${note}`, 404, `Artifact not found: ${note}; retention may have deleted it`);
    await refused('correlations/in-part', 409, IN_PART);
    const [form] = await board.artifacts('in-part', { type: 'Form' });
    await refused(`artifacts/${form!.id}`, 409, IN_PART);
    expect(await cleaned.count('correlations')).toBe(before);
    const { body } = await board.http.post('/api/v1/correlations/whole/replay').send({ mode: 'recorded' }).expect(200);
    const replay = body as ReplayBody;
    expect(await board.ended(replay.correlation_id)).toMatchObject({ state: 'completed', artifact_count: 2 });
  });

  test.each([
    ['recorded', UNRECORDED],
    ['shadow', UNRECORDED],
    ['full', null],
  ])('the rows of an experiment with mode %s say so, and the others are tried', async (mode, unrecorded) => {
    const done = await run({
      data: { correlations: ['gone', 'whole', 'in-part', 'unrecorded'] },
      expected: { recorded: true },
      mode,
      output: 'Stamp',
      variants: VARIANTS,
      scorers: [{ name: 'same', kind: 'equals' }],
    });
    const tried = unrecorded ? 1 : 2;
    expect(done).toMatchObject({ state: 'completed', ended_trials: 8, failed_trials: 8 - 2 * tried });
    const rows = await experiments.rows(done.experiment_id);
    expect(rows.map(({ origin, trials }) => [origin, trials.map(({ output, error }) => output ?? error)])).toEqual([
      ['gone', [GONE, GONE]],
      ['whole', ['{"n":4}', '{"n":5}']],
      ['in-part', [IN_PART, IN_PART]],
      ['unrecorded', unrecorded ? [unrecorded, unrecorded] : ['{"n":3}', '{"n":4}']],
    ]);
    for (const { name } of VARIANTS) expect(variantOf(done, name)).toMatchObject({ failed_trials: 4 - tried });
    expect(variantOf(done, 'now').scores).toMatchObject([{ scorer: 'same', count: tried }]);
    expect(variantOf(done, 'more').changed_rows).toBe(tried);
    expect(comparisonOf(done, 'more', 'same')).toMatchObject({ pairs: tried });
  });

  test('the runs of a batch are kept with it, so an experiment can try them', async () => {
    const done = await run({
      data: { batch },
      output: 'Stamp',
      variants: VARIANTS,
      scorers: [{ name: 'latency', kind: 'latency' }],
    });
    expect(done).toMatchObject({ state: 'completed', rows: 2, ended_trials: 4, failed_trials: 0 });
    const rows = await experiments.rows(done.experiment_id);
    expect(rows.map(({ trials }) => trials.map(({ output }) => output))).toEqual([
      ['{"n":7}', '{"n":8}'],
      ['{"n":8}', '{"n":9}'],
    ]);
  });

  test('an experiment on deleted artifacts has no rows', async () => {
    const answer = await experiments.post({
      data: { artifacts: { type: 'Note' } },
      output: 'Slip',
      variants: VARIANTS,
      scorers: [{ name: 'latency', kind: 'latency' }],
    });
    expect([answer.status, answer.body]).toEqual([
      400,
      { detail: 'data: has no rows; an experiment needs at least one' },
    ]);
  });

  test('an experiment that has begun tries no further trial on what is deleted meanwhile, and scores the others', async () => {
    const outside = new Outside(board.http);
    const answer = async (n: number): Promise<void> => {
      let held: Awaited<ReturnType<Outside['claim']>> = [];
      await eventually('the desk has work', async () => {
        held = await outside.claim({ agents: ['desk'], max: 1 });
        return held.length === 1;
      });
      expect(await outside.send(held[0]!, 'complete', { output: { n } })).toMatchObject({ status: 200 });
    };
    for (const id of ['call-1', 'call-2']) {
      await board.publish('Call', { id }, { correlation: id });
      await answer(1);
      await board.ended(id);
    }
    const id = await experiments.start({
      data: { correlations: ['call-1', 'call-2', 'whole'] },
      expected: { recorded: true },
      output: 'Answer',
      mode: 'full',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers: [
        { name: 'same', kind: 'equals' },
        { name: 'says', kind: 'cel', expression: 'output.n == 7' },
      ],
      max_workers: 1,
    });
    await eventually('the first trial waits', async () => {
      const query = { agent: 'desk', replay: true, state: 'pending' };
      const { body } = await board.http.get('/api/v1/executions').query(query).expect(200);
      return (body as { items: unknown[] }).items.length === 1;
    });
    await cleaned.cleanUpAfter(2);
    expect(await board.status('call-1')).toMatchObject({ state: 'not_found' });
    await answer(7);
    const done = await ended(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 6 });
    const rows = await experiments.rows(id);
    const gone = (name: string): string => `Correlation not found: ${name}; retention may have deleted it`;
    expect(rows.map(({ trials }) => trials.map(({ output, error }) => output ?? error))).toEqual([
      ['{"n":7}', gone('call-1')],
      [gone('call-2'), gone('call-2')],
      [expect.stringContaining('no agent failed'), expect.stringContaining('no agent failed')],
    ]);
    expect(rows[0]!.trials[0]!.scores).toEqual([
      {
        scorer: 'same',
        score: null,
        error: 'the original has no Answer to compare with; retention may have deleted it',
      },
      { scorer: 'says', score: 1 },
    ]);
  });
});

describe('of replays that retention has deleted', () => {
  const clock = new ManualClock();
  let board: Board;
  let cleaned: CleanedBoard;

  beforeAll(async () => {
    board = await Board.start(CONFIG.replaceAll('retain: 1d', 'retain: 2d'), { clock });
    cleaned = new CleanedBoard(board, clock);
  });
  afterAll(() => board?.close());

  const publish = async (correlation: string): Promise<void> => {
    await board.publish('Note', { n: 1 }, { correlation });
    await board.publish('Form', { n: 1 }, { correlation });
    await board.ended(correlation);
  };
  /** Returns the totals of all artifacts, of the type Note and of the agent slipper; lists and the summary must agree. */
  const totals = async (query: object): Promise<number[]> => {
    const { body } = await board.http.get('/api/v1/artifacts/summary').query(query).expect(200);
    const { summary } = body as {
      summary: { total_count: number; by_type: Record<string, number>; by_producer: Record<string, number> };
    };
    const counts = [summary.total_count, summary.by_type.Note ?? 0, summary.by_producer.slipper ?? 0];
    const listed = [];
    for (const filter of [{}, { type: 'Note' }, { produced_by: 'slipper' }])
      listed.push(await cleaned.total({ ...query, ...filter }));
    expect(listed).toEqual(counts);
    return counts;
  };
  const both = async (): Promise<number[][]> => [await totals({}), await totals({ replay: true })];

  test('lists and the summary count what is left, with and without replays', async () => {
    await publish('first');
    await cleaned.cleanUpAfter(1);
    const { body } = await board.http.post('/api/v1/correlations/first/replay').send({ mode: 'full' }).expect(200);
    const replay = (body as ReplayBody).correlation_id;
    await board.ended(replay);
    expect(await both()).toEqual([
      [4, 1, 1],
      [8, 2, 2],
    ]);
    const published = await cleaned.metric('blackboard_artifacts_total');

    await cleaned.cleanUpAfter(1);
    expect([await board.types('first'), (await board.types(replay)).length]).toEqual([['Form', 'Stamp'], 4]);
    expect(await both()).toEqual([
      [2, 0, 0],
      [6, 1, 1],
    ]);
    await publish('second');
    await cleaned.cleanUpAfter(1);
    expect(await board.types(replay)).toEqual(['Form', 'Stamp']);
    expect(await both()).toEqual([
      [6, 1, 1],
      [8, 1, 1],
    ]);
    expect(await cleaned.metric('blackboard_artifacts_total')).toBe(published + 4);
  });
});
