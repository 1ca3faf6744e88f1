// The scorers of experiments over HTTP. Uses the application and its database, stopped and started again.
import { ACCURACY, CSV, ExperimentApp, ofCsv } from './experiment-app.js';
import { comparisonOf, meansOf, variantOf } from './experiment-board.js';
import { SERVER } from './replica-boards.js';

describe('an experiment', () => {
  const app = new ExperimentApp();

  beforeEach(() => app.open());
  afterEach(() => app.close());

  test('continues after a scorer that fails for some rows', async () => {
    const done = await app.experiments.run(
      ofCsv({
        data: { csv: `${CSV},other\n`, agent: 'classifier' },
        scorers: [ACCURACY, { name: 'ratio', kind: 'cel', expression: '1 / (output.intent == "card" ? 1 : 0)' }],
      }),
    );
    // The last row has an empty text, which the type refuses.
    expect(done).toMatchObject({ state: 'completed', ended_trials: 12, failed_trials: 2 });
    expect(variantOf(done, 'now')).toMatchObject({
      failed_trials: 1,
      scores: [
        { scorer: 'accuracy', count: 5, errors: 1 },
        { scorer: 'ratio', count: 2, errors: 4, mean: 1 },
      ],
    });
    expect(comparisonOf(done, 'broad', 'ratio')).toMatchObject({ pairs: 2 });
    const rows = await app.experiments.rows(done.experiment_id);
    expect(rows[3]!.trials[0]!.scores[1]).toEqual({
      scorer: 'ratio',
      score: null,
      error: expect.stringContaining('divide by zero') as string,
    });
    expect(rows[5]!.trials[0]).toMatchObject({ error: expect.stringContaining('text') as string, scores: [] });
  });

  test('gives a row without an expected value no score, and says why', async () => {
    for (const [correlation, payload] of [
      ['labelled', { text: 'a card', label: 'card' }],
      ['plain', { text: 'a cat' }],
    ] as const) {
      await app.board.publish('Message', payload, { correlation });
      await app.board.ended(correlation);
    }
    const done = await app.experiments.run({
      data: { correlations: ['labelled', 'plain'] },
      expected: { path: '/label' },
      output: 'Intent',
      variants: [{ name: 'now' }, { name: 'again' }],
      scorers: [
        { name: 'equal', kind: 'equals', path: '/intent' },
        { name: 'within', kind: 'contains', path: '/intent' },
      ],
    });
    expect(done).toMatchObject({ state: 'completed', failed_trials: 0 });
    const rows = await app.experiments.rows(done.experiment_id);
    const missing = 'the row has no expected value';
    expect(rows.map(({ trials }) => trials[0]!.scores.map(({ score, error }) => error ?? score))).toEqual([
      [1, 1],
      [missing, missing],
    ]);
  });

  test('counts the rows of an agent that fails as wrong, and not as fast', async () => {
    const done = await app.experiments.run(
      ofCsv({
        variants: [{ name: 'now' }, { name: 'broken', agent: 'broken' }],
        scorers: [ACCURACY, { name: 'latency', kind: 'latency' }],
      }),
    );
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 5 });
    expect(meansOf(done, 'accuracy')).toEqual([0.8, 0]);
    expect(meansOf(done, 'latency')).toEqual([expect.any(Number), null]);
    expect(comparisonOf(done, 'broken', 'latency')).toMatchObject({ pairs: 0, p_value: null, verdict: 'undecided' });
    const [row] = await app.experiments.rows(done.experiment_id, { limit: 1 });
    expect(row!.trials[1]).toMatchObject({
      error: expect.stringMatching(/^no agent published an artifact of the type Intent: broken failed: /) as string,
      scores: [{ score: 0 }, { score: null, error: 'the trial has no output' }],
    });
  });

  test('says what to check if no agent publishes the output', async () => {
    const done = await app.experiments.run(ofCsv({ output: 'Verdict' }));
    expect(done).toMatchObject({ state: 'completed', failed_trials: 10 });
    const [row] = await app.experiments.rows(done.experiment_id, { limit: 1 });
    expect(row!.trials[0]!.error).toBe(
      'no agent published an artifact of the type Verdict: no agent failed; check that output names a type that follows from the row',
    );
  });

  test('asks an agent as judge, whose scores and reasons are artifacts', async () => {
    const done = await app.experiments.run(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'judge' }] }),
    );

    expect(meansOf(done, 'judged')).toEqual(meansOf(done, 'accuracy'));
    const [row] = await app.experiments.rows(done.experiment_id, { limit: 1 });
    const { correlation_id: trial, scores } = row!.trials[0]!;
    const { score, reason, artifact_id } = scores[1]!;
    expect([score, reason]).toEqual([1, 'It says card']);
    const { body } = await app.board.http.get(`/api/v1/artifacts/${artifact_id}`).expect(200);
    expect(body).toMatchObject({ type: 'Verdict', produced_by: 'judge', payload: { score: 1, reason } });
    const { correlation_id: judged } = body as { correlation_id: string };
    expect(await app.board.status(judged)).toMatchObject({ origin: trial });
  });

  test('continues after a judge that fails, publishes nothing or gives no number for some rows', async () => {
    const done = await app.experiments.run(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'picky' }] }),
    );
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 0 });
    for (const name of ['now', 'broad'])
      expect(variantOf(done, name).scores).toMatchObject([
        { scorer: 'accuracy', count: 5, errors: 0, mean: 0.8 },
        { scorer: 'judged', count: 2, errors: 3, mean: 0.5 },
      ]);
    expect(comparisonOf(done, 'broad', 'judged')).toMatchObject({ pairs: 2, ties: 2 });
    const rows = await app.experiments.rows(done.experiment_id);
    expect(rows.map(({ trials }) => trials.map(({ scores }) => scores[1]!.error ?? scores[1]!.score))).toEqual(
      [
        'the result must be a number or a boolean (got "high")',
        'picky published nothing',
        0,
        expect.stringMatching(/^picky failed: .*divide by zero/) as string,
        1,
      ].map((judged) => [judged, judged]),
    );
  });

  test('ends although the configuration no longer has its judge', async () => {
    await app.board.close();
    await app.start({ role: SERVER });
    const id = await app.experiments.start(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'judge' }] }),
    );
    await app.board.close();
    await app.start({ change: (config) => config.replace('  judge:', '  referee:') });
    const done = await app.experiments.ended(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 0 });
    expect(meansOf(done, 'accuracy')).toEqual([0.8, 0.8]);
    const [row] = await app.experiments.rows(id, { limit: 1 });
    expect(row!.trials[0]!.scores[1]).toEqual({
      scorer: 'judged',
      score: null,
      error: 'the configuration has no agent judge that consumes a single type',
    });
  });
});
