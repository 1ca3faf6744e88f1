// Experiments over HTTP, from their start to their end. Uses the application and its database, stopped and started again,
// and a model server of the test that speaks the wire format of OpenAI-compatible servers.
import { eventually } from '../support/eventually.js';
import { CSV, ExperimentApp, ofCsv } from './experiment-app.js';
import { comparisonOf, meansOf, variantOf } from './experiment-board.js';
import { Outside } from './outside.js';
import { SERVER } from './replica-boards.js';

describe('an experiment', () => {
  const app = new ExperimentApp();

  beforeEach(() => app.open());
  afterEach(() => app.close());

  test('runs two agents on the rows of a CSV, and compares their scores row by row', async () => {
    const done = await app.experiments.run(ofCsv({ name: 'breadth' }));

    expect(done).toMatchObject({
      name: 'breadth',
      state: 'completed',
      rows: 5,
      variants: ['now', 'broad'],
      total_trials: 10,
      ended_trials: 10,
      failed_trials: 0,
      progress_percentage: 100,
    });
    expect(meansOf(done, 'accuracy')).toEqual([0.8, 0.8]);
    expect(comparisonOf(done, 'broad', 'accuracy')).toMatchObject({
      pairs: 5,
      wins: 1,
      losses: 1,
      ties: 3,
      difference: 0,
      test: 'mcnemar_exact',
      p_value: 1,
      verdict: 'undecided',
    });
    expect(variantOf(done, 'broad').changed_rows).toBe(2);

    const rows = await app.experiments.rows(done.experiment_id, { limit: 2 });
    expect(rows.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(rows[4]).toMatchObject({
      input: '{"text":"cash machine"}',
      expected: '"card"',
      changed: true,
      trials: [
        { variant: 'now', output: '{"intent":"other"}', scores: [{ scorer: 'accuracy', score: 0 }] },
        { variant: 'broad', output: '{"intent":"card"}', scores: [{ scorer: 'accuracy', score: 1 }] },
      ],
    });
    const changed = await app.experiments.rows(done.experiment_id, { changed: true, limit: 1 });
    expect(changed.map(({ index }) => index)).toEqual([1, 4]);

    // The trials are kept apart from live work, and are found by their ids.
    expect((await app.board.http.get('/api/v1/correlations').expect(200)).body).toMatchObject({ items: [] });
    expect(await app.board.status(rows[0]!.trials[0]!.correlation_id)).toMatchObject({
      state: 'completed',
      origin: done.experiment_id,
      origin_kind: 'experiment',
    });
    const { body } = await app.board.http.get('/api/v1/experiments').query({ state: 'completed' }).expect(200);
    expect(body).toMatchObject({ items: [{ experiment_id: done.experiment_id }] });
  });

  test('uses the variants of an agent by row, so that the trials of a row have the same one', async () => {
    const csv = ['text', ...Array.from({ length: 16 }, (_, n) => `message ${n}`)].join('\n');
    const variants = [{ name: 'one' }, { name: 'equal' }];
    const data = { csv, agent: 'ramped' };
    const { experiment_id } = await app.experiments.run(
      ofCsv({ data, expected: undefined, variants, scorers: [{ name: 'latency', kind: 'latency' }] }),
    );
    const rows = await app.experiments.rows(experiment_id);
    const outputs = rows.map(({ trials }) => trials.map(({ output }) => output));
    expect(outputs.map(([one]) => [one, one])).toEqual(outputs);
    expect(new Set(outputs.flat())).toEqual(new Set(['{"intent":"base"}', '{"intent":"other"}']));
  });

  test('counts cost and tokens, and starts nothing more when its budget is used up', async () => {
    const csv = `topic\n${'cards\n'.repeat(6)}`;
    const done = await app.experiments.run({
      data: { csv, agent: 'speaker' },
      output: 'Reply',
      variants: [{ name: 'long' }, { name: 'short', overrides: { speaker: { instructions: 'Be brief.' } } }],
      scorers: [
        { name: 'cost', kind: 'cost' },
        { name: 'latency', kind: 'latency' },
      ],
      max_workers: 1,
      // Each trial uses 120 tokens.
      max_tokens: 480,
    });
    expect(done).toMatchObject({
      state: 'failed',
      error: 'max_tokens (480) is used up, so some rows were not tried; increase it to try all of them',
      ended_trials: 4,
      total_trials: 12,
      usage: { input_tokens: 400, output_tokens: 80, cost: 0.48 },
    });
    expect(app.models.requests).toHaveLength(4);
    expect(comparisonOf(done, 'short', 'cost')).toMatchObject({
      better: 'lower',
      pairs: 2,
      difference: 0,
      test: 'permutation_exact',
    });
    expect(meansOf(done, 'cost')).toEqual([0.12, 0.12]);
    expect(variantOf(done, 'short')).toMatchObject({
      trials: 2,
      usage: { input_tokens: 200, output_tokens: 40, cost: 0.24 },
    });
    expect(app.models.requests.filter(({ text }) => text.includes('Be brief.'))).toHaveLength(2);
  });

  test('starts nothing more when its max_cost is used up, to the last digit', async () => {
    app.models.used = () => ({ input: 80, output: 20 });
    const done = await app.experiments.run({
      data: { csv: `topic\n${'cards\n'.repeat(6)}`, agent: 'speaker' },
      output: 'Reply',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers: [{ name: 'cost', kind: 'cost' }],
      max_workers: 1,
      // Each trial costs 0.1. As binary fractions, eight of them add up to less than 0.8.
      max_cost: 0.8,
    });
    expect(done).toMatchObject({
      state: 'failed',
      error: 'max_cost (0.8) is used up, so some rows were not tried; increase it to try all of them',
      ended_trials: 8,
      total_trials: 12,
      usage: { input_tokens: 640, output_tokens: 160, cost: 0.8 },
    });
    expect(app.models.requests).toHaveLength(8);
  });

  test('runs at most max_workers trials at the same time', async () => {
    const outside = new Outside(app.board.http);
    const [rows, trials, workers] = [10, 20, 2];
    const executions = async (more: object = {}): Promise<number> => {
      const query = { agent: 'person', replay: true, limit: 500, ...more };
      const { body } = await app.board.http.get('/api/v1/executions').query(query).expect(200);
      return (body as { items: unknown[] }).items.length;
    };
    const id = await app.experiments.start(
      ofCsv({
        data: { csv: `text,label\n${'a card,card\n'.repeat(rows)}`, agent: 'person' },
        variants: [{ name: 'a' }, { name: 'b' }],
        max_workers: workers,
      }),
    );
    for (let ended = 0; ended < trials; ended++) {
      const begun = Math.min(trials, ended + workers);
      await eventually(`${begun} trials have begun`, async () => (await executions()) === begun);
      expect(await executions({ state: 'pending' })).toBe(begun - ended);
      const [held] = await outside.claim({ agents: ['person'], max: 1 });
      expect(await outside.send(held!, 'complete', { output: { intent: 'card' } })).toMatchObject({ status: 200 });
    }
    expect(await app.experiments.ended(id)).toMatchObject({
      state: 'completed',
      ended_trials: trials,
      failed_trials: 0,
    });
    expect(await executions()).toBe(trials);
  });

  test('can be cancelled, and cancels what runs', async () => {
    const id = await app.experiments.start(
      ofCsv({ data: { csv: CSV, agent: 'person' }, variants: [{ name: 'a' }, { name: 'b' }] }),
    );
    await eventually('trials have begun', async () => (await app.count(`executions where agent = 'person'`)) > 0);
    const { body } = await app.board.http.post(`/api/v1/experiments/${id}/cancel`).send({}).expect(200);
    expect(body).toMatchObject({ state: 'cancelled', summary: { baseline: 'a' } });
    await eventually(
      'nothing of it is active',
      async () => (await app.count(`correlations where state = 'active'`)) === 0,
    );
    await eventually(
      'its trials have ended',
      async () => (await app.count(`experiment_trials where state <> 'ended'`)) === 0,
    );
    await app.board.http
      .post(`/api/v1/experiments/${id}/cancel`)
      .send({})
      .expect(409, {
        detail: `Experiment ${id} has already ended (cancelled) and cannot be cancelled`,
      });
  });

  test('continues where it was when the service starts again, with each row once', async () => {
    await app.board.close();
    await app.start({ role: SERVER });
    const rows = 60;
    const csv = `text,label\n${Array.from({ length: rows }, (_, row) => `card ${row},card\n`).join('')}`;
    const id = await app.experiments.start(ofCsv({ data: { csv, agent: 'classifier' } }));
    expect(await app.experiments.get(id)).toMatchObject({ state: 'running', ended_trials: 0 });
    await app.board.close();
    await app.start();
    await eventually('some have ended', async () => (await app.experiments.get(id)).ended_trials > 0);
    await app.board.close();
    await app.start();
    const done = await app.experiments.ended(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 2 * rows, failed_trials: 0 });
    expect(comparisonOf(done, 'broad', 'accuracy')).toMatchObject({ pairs: rows, ties: rows });
    expect(await app.count(`correlations where origin = '${id}'`)).toBe(2 * rows);
    expect(await app.count(`executions where agent in ('classifier', 'broad')`)).toBe(2 * rows);
  });
});
