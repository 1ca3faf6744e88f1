// Experiments over HTTP. Uses the application and its database, stopped and started again, and a model server of the test
// that speaks the wire format of OpenAI-compatible servers.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Board } from './board.js';
import { comparisonOf, Experiments, meansOf, variantOf } from './experiment-board.js';
import { Outside } from './outside.js';

const config = (url: string): string => `
models:
  local/small: { input_per_million: 1000, output_per_million: 1000 }
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } } }
  Intent: { schema: { type: object, required: [intent], properties: { intent: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Case: { schema: { type: object, required: [output] } }
  Verdict: { schema: { type: object } }
  Work: { schema: { type: object } }
agents:
  classifier:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' }
  broad:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("c") ? "card" : "other"}' }
  broken:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    retry: { attempts: 1 }
    engine: { kind: expression, expression: '{"intent": [""][size(payload.text)]}' }
  ramped:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": "base"}' }
    variants: { other: { share: 50%, expression: '{"intent": "other"}' } }
  responder:
    consumes: [{ types: [Intent] }]
    publishes: [{ type: Reply }]
    engine: { kind: expression, expression: '{"text": "About " + payload.intent}' }
  judge:
    consumes: [{ types: [Case] }]
    publishes: [{ type: Verdict }]
    engine:
      kind: expression
      expression: '{"score": payload.output.intent == payload.expected ? 1.0 : 0.0, "reason": "It says " + payload.output.intent}'
  picky:
    consumes: [{ types: [Case], where: 'false' }]
    publishes: [{ type: Verdict }]
    retry: { attempts: 1 }
    engine:
      kind: expression
      expression: |
        payload.input.text.startsWith("the") ? [] :
        [{"score": payload.input.text.startsWith("my") ? dyn("high") : dyn(10 / (size(payload.input.text) - 5))}]
  speaker:
    consumes: [{ types: [Work] }]
    publishes: [{ type: Reply }]
    engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Answer. }
  person:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: external }
`;

const CSV = `text,label
my card is lost,card
the cat sat,other
a card and a coin,card
hello,other
cash machine,card
`;

const TWO = [{ name: 'now' }, { name: 'broad', agent: 'broad' }];
const ACCURACY = { name: 'accuracy', kind: 'equals', path: '/intent' };

const ofCsv = (more: object = {}) => ({
  data: { csv: CSV, agent: 'classifier' },
  expected: { column: 'label' },
  output: 'Intent',
  variants: TWO,
  scorers: [ACCURACY],
  ...more,
});

describe('an experiment', () => {
  let folder: ConfigurationFolder;
  let models: ModelServer;
  let board: Board;
  let experiments: Experiments;

  const start = async (role = { api: true, worker: true }): Promise<void> => {
    board = await Board.start(config(models.url), { folder: folder.path, role });
    experiments = new Experiments(board.http);
  };
  const count = async (query: string): Promise<number> => {
    const [row] = await board.app.database.rows<{ count: string }>(`select count(*) as count from ${query}`);
    return Number(row!.count);
  };

  beforeEach(async () => {
    folder = new ConfigurationFolder();
    models = await ModelServer.start(() => ({ text: '{"text": "It is late."}' }));
    await start();
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    await models?.close();
    folder?.remove();
  });

  test('runs two agents on the rows of a CSV, and compares their scores row by row', async () => {
    const done = await experiments.run(ofCsv({ name: 'breadth' }));

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

    const rows = await experiments.rows(done.experiment_id, { limit: 2 });
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
    const changed = await experiments.rows(done.experiment_id, { changed: true, limit: 1 });
    expect(changed.map(({ index }) => index)).toEqual([1, 4]);

    // The trials are kept apart from live work, and are found by their ids.
    expect((await board.http.get('/api/v1/correlations').expect(200)).body).toMatchObject({ items: [] });
    expect(await board.status(rows[0]!.trials[0]!.correlation_id)).toMatchObject({
      state: 'completed',
      origin: done.experiment_id,
      origin_kind: 'experiment',
    });
    const { body } = await board.http.get('/api/v1/experiments').query({ state: 'completed' }).expect(200);
    expect(body).toMatchObject({ items: [{ experiment_id: done.experiment_id }] });
  });

  test('uses the variants of an agent by row, so that the trials of a row have the same one', async () => {
    const csv = ['text', ...Array.from({ length: 16 }, (_, n) => `message ${n}`)].join('\n');
    const variants = [{ name: 'one' }, { name: 'equal' }];
    const data = { csv, agent: 'ramped' };
    const { experiment_id } = await experiments.run(
      ofCsv({ data, expected: undefined, variants, scorers: [{ name: 'latency', kind: 'latency' }] }),
    );
    const rows = await experiments.rows(experiment_id);
    const outputs = rows.map(({ trials }) => trials.map(({ output }) => output));
    expect(outputs.map(([one]) => [one, one])).toEqual(outputs);
    expect(new Set(outputs.flat())).toEqual(new Set(['{"intent":"base"}', '{"intent":"other"}']));
  });

  test('replays originals, and does not run agents again that have not changed', async () => {
    const originals = ['one card', 'two cats'];
    for (const [index, text] of originals.entries()) {
      await board.publish('Message', { text }, { correlation: `order-${index}` });
      await board.ended(`order-${index}`);
    }
    const overrides = { responder: { expression: '{"text": "Your " + payload.intent}' } };
    const done = await experiments.run({
      data: { artifacts: { type: 'Message' } },
      expected: { recorded: true },
      output: 'Reply',
      variants: [{ name: 'now' }, { name: 'your', overrides }],
      scorers: [
        { name: 'same', kind: 'equals' },
        { name: 'says', kind: 'cel', expression: 'output.text.startsWith("Your")' },
      ],
    });

    expect(meansOf(done, 'same')).toEqual([1, 0]);
    expect(meansOf(done, 'says')).toEqual([0, 1]);
    expect(variantOf(done, 'your').changed_rows).toBe(2);
    const replayed = `executions join correlations on correlations.id = executions.correlation_id where origin like 'order-%'`;
    expect(await count(`${replayed} and agent = 'classifier'`)).toBe(4);
    expect(await count(`${replayed} and agent = 'classifier' and executions.replay = 1`)).toBe(0);
    expect(await count(`${replayed} and agent = 'responder' and executions.replay = 1`)).toBe(2);

    const again = await experiments.run({
      data: { correlations: ['order-1', 'nope'] },
      expected: { path: '/text' },
      output: 'Reply',
      variants: [{ name: 'now' }, { name: 'your', overrides }],
      scorers: [{ name: 'about', kind: 'contains', path: '/text' }],
    });
    expect(again).toMatchObject({ state: 'completed', ended_trials: 4, failed_trials: 2 });
    const [known, unknown] = await experiments.rows(again.experiment_id);
    expect(known).toMatchObject({
      origin: 'order-1',
      expected: '"two cats"',
      trials: [{}, { scores: [{ score: 0 }] }],
    });
    expect(unknown!.trials.map(({ error }) => error)).toEqual(
      Array(2).fill('Correlation not found: nope; retention may have deleted it'),
    );
  });

  test('compares an artifact with what followed from it, not from others of its correlation', async () => {
    for (const text of ['a card', 'a cat']) await board.publish('Message', { text }, { correlation: 'both' });
    await board.ended('both');
    const done = await experiments.run({
      data: { artifacts: { type: 'Message' } },
      expected: { recorded: true },
      output: 'Reply',
      variants: [{ name: 'now' }, { name: 'again' }],
      scorers: [{ name: 'same', kind: 'equals' }],
    });
    expect(meansOf(done, 'same')).toEqual([1, 1]);
    const rows = await experiments.rows(done.experiment_id);
    expect(rows.map(({ expected }) => expected)).toEqual(['{"text":"About card"}', '{"text":"About other"}']);
  });

  test('takes the artifacts that match all conditions, and only so many', async () => {
    for (const [index, tags] of [['old', 'chosen'], ['chosen'], ['old']].entries()) {
      await board.publish('Message', { text: `card ${index}` }, { correlation: `order-${index}`, tags });
      await board.ended(`order-${index}`);
    }
    const inputsOf = async (more: object, limit?: number): Promise<(string | undefined)[]> => {
      const done = await experiments.run({
        data: { artifacts: { type: 'Message', ...more }, limit },
        output: 'Intent',
        variants: [{ name: 'now' }, { name: 'again' }],
        scorers: [{ name: 'latency', kind: 'latency' }],
      });
      return (await experiments.rows(done.experiment_id)).map(({ input }) => input);
    };
    const [first, second, third] = [0, 1, 2].map((index) => JSON.stringify({ text: `card ${index}` }));
    expect(await inputsOf({})).toEqual([first, second, third]);
    expect(await inputsOf({ tags: ['chosen'] })).toEqual([first, second]);
    expect(await inputsOf({ tags: ['old', 'chosen'], from: '2000-01-01' })).toEqual([first]);
    expect(await inputsOf({ tags: ['chosen'] }, 1)).toEqual([first]);
  });

  test('replays the runs of a batch', async () => {
    const batch = await board.http
      .post('/run/batch')
      .send({ agent_name: 'classifier', batch_inputs: [{ text: 'a card' }, { text: 'a cat' }] })
      .expect(200);
    const { batch_id: id } = batch.body as { batch_id: string };
    await eventually('the batch has ended', async () => {
      const { body } = await board.http.get(`/batch/${id}`).expect(200);
      return (body as { status: string }).status === 'completed';
    });
    const expression = '{"intent": "card"}';
    const done = await experiments.run({
      data: { batch: id },
      expected: { recorded: true },
      output: 'Intent',
      variants: [{ name: 'now' }, { name: 'card', overrides: { classifier: { expression } } }],
      scorers: [{ ...ACCURACY, kind: 'cel', path: undefined, expression: 'output.intent == expected.intent' }],
    });
    expect(meansOf(done, 'accuracy')).toEqual([1, 0.5]);
  });

  test('continues after a scorer that fails for some rows', async () => {
    const done = await experiments.run(
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
    const rows = await experiments.rows(done.experiment_id);
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
      await board.publish('Message', payload, { correlation });
      await board.ended(correlation);
    }
    const done = await experiments.run({
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
    const rows = await experiments.rows(done.experiment_id);
    const missing = 'the row has no expected value';
    expect(rows.map(({ trials }) => trials[0]!.scores.map(({ score, error }) => error ?? score))).toEqual([
      [1, 1],
      [missing, missing],
    ]);
  });

  test('counts the rows of an agent that fails as wrong, and not as fast', async () => {
    const done = await experiments.run(
      ofCsv({
        variants: [{ name: 'now' }, { name: 'broken', agent: 'broken' }],
        scorers: [ACCURACY, { name: 'latency', kind: 'latency' }],
      }),
    );
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 5 });
    expect(meansOf(done, 'accuracy')).toEqual([0.8, 0]);
    expect(meansOf(done, 'latency')).toEqual([expect.any(Number), null]);
    expect(comparisonOf(done, 'broken', 'latency')).toMatchObject({ pairs: 0, p_value: null, verdict: 'undecided' });
    const [row] = await experiments.rows(done.experiment_id, { limit: 1 });
    expect(row!.trials[1]).toMatchObject({
      error: expect.stringMatching(/^no agent published an artifact of the type Intent: broken failed: /) as string,
      scores: [{ score: 0 }, { score: null, error: 'the trial has no output' }],
    });
  });

  test('says what to check if no agent publishes the output', async () => {
    const done = await experiments.run(ofCsv({ output: 'Verdict' }));
    expect(done).toMatchObject({ state: 'completed', failed_trials: 10 });
    const [row] = await experiments.rows(done.experiment_id, { limit: 1 });
    expect(row!.trials[0]!.error).toBe(
      'no agent published an artifact of the type Verdict: no agent failed; check that output names a type that follows from the row',
    );
  });

  test('asks an agent as judge, whose scores and reasons are artifacts', async () => {
    const done = await experiments.run(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'judge' }] }),
    );

    expect(meansOf(done, 'judged')).toEqual(meansOf(done, 'accuracy'));
    const [row] = await experiments.rows(done.experiment_id, { limit: 1 });
    const { correlation_id: trial, scores } = row!.trials[0]!;
    const { score, reason, artifact_id } = scores[1]!;
    expect([score, reason]).toEqual([1, 'It says card']);
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact_id}`).expect(200);
    expect(body).toMatchObject({ type: 'Verdict', produced_by: 'judge', payload: { score: 1, reason } });
    const { correlation_id: judged } = body as { correlation_id: string };
    expect(await board.status(judged)).toMatchObject({ origin: trial });
  });

  test('continues after a judge that fails, publishes nothing or gives no number for some rows', async () => {
    const done = await experiments.run(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'picky' }] }),
    );
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 0 });
    for (const name of ['now', 'broad'])
      expect(variantOf(done, name).scores).toMatchObject([
        { scorer: 'accuracy', count: 5, errors: 0, mean: 0.8 },
        { scorer: 'judged', count: 2, errors: 3, mean: 0.5 },
      ]);
    expect(comparisonOf(done, 'broad', 'judged')).toMatchObject({ pairs: 2, ties: 2 });
    const rows = await experiments.rows(done.experiment_id);
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
    await board.close();
    await start({ api: true, worker: false });
    const id = await experiments.start(
      ofCsv({ scorers: [ACCURACY, { name: 'judged', kind: 'judge', agent: 'judge' }] }),
    );
    await board.close();
    board = await Board.start(config(models.url).replace('  judge:', '  referee:'), { folder: folder.path });
    experiments = new Experiments(board.http);
    const done = await experiments.ended(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 10, failed_trials: 0 });
    expect(meansOf(done, 'accuracy')).toEqual([0.8, 0.8]);
    const [row] = await experiments.rows(id, { limit: 1 });
    expect(row!.trials[0]!.scores[1]).toEqual({
      scorer: 'judged',
      score: null,
      error: 'the configuration has no agent judge that consumes a single type',
    });
  });

  test('asks models again with mode shadow, also without an override', async () => {
    await board.publish('Work', { topic: 'cards' }, { correlation: 'work' });
    await board.ended('work');
    expect(models.requests).toHaveLength(1);
    const done = await experiments.run({
      data: { correlations: ['work'] },
      output: 'Reply',
      mode: 'shadow',
      variants: [{ name: 'now' }, { name: 'brief', overrides: { speaker: { instructions: 'Be brief.' } } }],
      scorers: [{ name: 'cost', kind: 'cost' }],
    });
    expect(done).toMatchObject({ state: 'completed', failed_trials: 0, definition: { mode: 'shadow' } });
    expect(models.requests).toHaveLength(3);
  });

  test('counts cost and tokens, and starts nothing more when its budget is used up', async () => {
    const csv = `topic\n${'cards\n'.repeat(6)}`;
    const done = await experiments.run({
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
    expect(models.requests).toHaveLength(4);
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
    expect(models.requests.filter(({ text }) => text.includes('Be brief.'))).toHaveLength(2);
  });

  test('starts nothing more when its max_cost is used up, to the last digit', async () => {
    models.used = () => ({ input: 80, output: 20 });
    const done = await experiments.run({
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
    expect(models.requests).toHaveLength(8);
  });

  test('runs at most max_workers trials at the same time', async () => {
    const outside = new Outside(board.http);
    const [rows, trials, workers] = [10, 20, 2];
    const executions = async (more: object = {}): Promise<number> => {
      const query = { agent: 'person', replay: true, limit: 500, ...more };
      const { body } = await board.http.get('/api/v1/executions').query(query).expect(200);
      return (body as { items: unknown[] }).items.length;
    };
    const id = await experiments.start(
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
    expect(await experiments.ended(id)).toMatchObject({ state: 'completed', ended_trials: trials, failed_trials: 0 });
    expect(await executions()).toBe(trials);
  });

  test('can be cancelled, and cancels what runs', async () => {
    const id = await experiments.start(
      ofCsv({ data: { csv: CSV, agent: 'person' }, variants: [{ name: 'a' }, { name: 'b' }] }),
    );
    await eventually('trials have begun', async () => (await count(`executions where agent = 'person'`)) > 0);
    const { body } = await board.http.post(`/api/v1/experiments/${id}/cancel`).send({}).expect(200);
    expect(body).toMatchObject({ state: 'cancelled', summary: { baseline: 'a' } });
    await eventually('nothing of it is active', async () => (await count(`correlations where state = 'active'`)) === 0);
    await eventually(
      'its trials have ended',
      async () => (await count(`experiment_trials where state <> 'ended'`)) === 0,
    );
    await board.http
      .post(`/api/v1/experiments/${id}/cancel`)
      .send({})
      .expect(409, {
        detail: `Experiment ${id} has already ended (cancelled) and cannot be cancelled`,
      });
  });

  test('continues where it was when the service starts again, with each row once', async () => {
    await board.close();
    await start({ api: true, worker: false });
    const rows = 60;
    const csv = `text,label\n${Array.from({ length: rows }, (_, row) => `card ${row},card\n`).join('')}`;
    const id = await experiments.start(ofCsv({ data: { csv, agent: 'classifier' } }));
    expect(await experiments.get(id)).toMatchObject({ state: 'running', ended_trials: 0 });
    await board.close();
    await start();
    await eventually('some have ended', async () => (await experiments.get(id)).ended_trials > 0);
    await board.close();
    await start();
    const done = await experiments.ended(id);
    expect(done).toMatchObject({ state: 'completed', ended_trials: 2 * rows, failed_trials: 0 });
    expect(comparisonOf(done, 'broad', 'accuracy')).toMatchObject({ pairs: rows, ties: rows });
    expect(await count(`correlations where origin = '${id}'`)).toBe(2 * rows);
    expect(await count(`executions where agent in ('classifier', 'broad')`)).toBe(2 * rows);
  });

  test('is created once by requests with the same key', async () => {
    const body = ofCsv();
    const [one, other] = [
      await experiments.post(body).set('X-Idempotency-Key', 'same'),
      await experiments.post(body).set('X-Idempotency-Key', 'same'),
    ];
    expect((one.body as { experiment_id: string }).experiment_id).toBe(
      (other.body as { experiment_id: string }).experiment_id,
    );
    expect(await count('experiments')).toBe(1);
  });

  test('is refused while ten others run', async () => {
    const waiting = ofCsv({
      data: { csv: 'text,label\na card,card\n', agent: 'person' },
      variants: [{ name: 'a' }, { name: 'b' }],
    });
    const ids: string[] = [];
    while (ids.length < 10) ids.push(await experiments.start(waiting));
    const { status, body } = await experiments.post(waiting);
    expect([status, body]).toEqual([
      409,
      { detail: '10 experiments are running, which is the most; wait until one has ended, or cancel one' },
    ]);
    await board.http.post(`/api/v1/experiments/${ids[0]}/cancel`).send({}).expect(200);
    await experiments.start(waiting);
  });

  test('is refused while its batch runs', async () => {
    const { body } = await board.http
      .post('/run/batch')
      .send({ agent_name: 'person', batch_inputs: [{ text: 'a card' }] })
      .expect(200);
    const { batch_id: id } = body as { batch_id: string };
    const answer = await experiments.post(
      ofCsv({ data: { batch: id }, expected: { recorded: true }, variants: [{ name: 'a' }, { name: 'b' }] }),
    );
    expect([answer.status, answer.body]).toEqual([
      409,
      { detail: `Batch ${id} is still running; start the experiment when it has ended` },
    ]);
  });

  describe('that is wrong', () => {
    test.each([
      [
        'no data set',
        { data: { agent: 'classifier' } },
        400,
        'data: must have one of csv, batch, artifacts and correlations (got 0)',
      ],
      ['an unknown field', { data: { cvs: 'a' } }, 400, 'data.cvs'],
      ['one variant', { variants: [{ name: 'a' }] }, 400, 'variants: must contain at least 2 elements'],
      [
        'nine variants',
        { variants: Array.from({ length: 9 }, (_, index) => ({ name: `${index}` })) },
        400,
        'variants: must contain no more than 8 elements',
      ],
      [
        'two variants of one name',
        { variants: [{ name: 'a' }, { name: 'a' }] },
        400,
        'variants[1].name: a is the name of another one',
      ],
      [
        'an unknown agent',
        { variants: [{ name: 'a', agent: 'brod' }, { name: 'b' }] },
        400,
        'variants[0].agent: no agent has the name brod; did you mean broad?',
      ],
      [
        'an override that its schema refuses',
        { variants: [{ name: 'a' }, { name: 'b', overrides: { classifier: { module: './x.ts' } } }] },
        400,
        'variants[1].overrides.classifier.module',
      ],
      [
        'an expression that does not compile',
        { variants: [{ name: 'a' }, { name: 'b', overrides: { classifier: { expression: '1 +' } } }] },
        400,
        'variants[1].overrides.classifier.expression',
      ],
      [
        'mistakes in overrides, in a configuration and elsewhere',
        {
          output: 'Intnet',
          variants: [
            { name: 'a', overrides: { classifier: { module: './x.ts' }, clasifier: { expression: '{}' } } },
            { name: 'a', configuration: 'candidate' },
          ],
        },
        400,
        [
          'variants[1].name: a is the name of another one; give each its own',
          'output: Unknown artifact type: Intnet; did you mean Intent?',
          'variants[0].overrides.classifier.module: comes from the configuration; a replay may override expression, instructions, temperature, max_output_tokens and model',
          'variants[0].overrides.clasifier: no agent has this name; did you mean classifier?',
          'variants[1].configuration: the operator gave no configuration for replays (setting replay_config)',
        ].join('; '),
      ],
      [
        'an agent with effects and mode shadow',
        { mode: 'shadow', data: { csv: CSV, agent: 'person' } },
        400,
        'data.agent: person does not run with mode shadow, because it is an external agent; use another mode',
      ],
      [
        'an unknown variable',
        { scorers: [{ name: 's', kind: 'cel', expression: 'payload.text' }] },
        400,
        'scorers[0].expression: names the unknown variable payload',
      ],
      [
        'a scorer without expected values',
        { expected: undefined },
        400,
        'scorers[0]: equals compares with the expected value; give expected in the request',
      ],
      [
        'a column that is not there',
        { expected: { column: 'lable' } },
        400,
        'expected.column: the header has no column "lable"',
      ],
      ['an unknown type', { output: 'Intnet' }, 400, 'output'],
      [
        'no rows',
        { data: { csv: 'text,label\n', agent: 'classifier' } },
        400,
        'data: has no rows; an experiment needs at least one',
      ],
      [
        'a broken CSV',
        { data: { csv: 'text,label\na\n', agent: 'classifier' } },
        400,
        'data.csv: line 2 has 1 field and the header 2',
      ],
      [
        'too many rows',
        { data: { csv: `text,label\n${'a,b\n'.repeat(10_001)}`, agent: 'classifier' } },
        400,
        'data: has more than 10000 rows',
      ],
      [
        'a correlation that is named twice',
        { data: { correlations: ['order-1', 'order-2', 'order-1'] }, expected: { recorded: true } },
        400,
        'data.correlations[2]: order-1 is also data.correlations[0]; name each correlation once',
      ],
      ['an unknown batch', { data: { batch: 'nope' }, expected: { recorded: true } }, 404, 'Batch not found: nope'],
    ])('with %s is refused, and stores nothing', async (_what, more, status, detail) => {
      const variants = 'data' in more && 'batch' in more.data ? { variants: [{ name: 'a' }, { name: 'b' }] } : {};
      const answer = await experiments.post(ofCsv({ ...variants, ...more }));
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
        status,
        expect.stringContaining(detail),
      ]);
      for (const table of ['experiments', 'experiment_rows', 'experiment_trials', 'correlations'])
        expect([table, await count(table)]).toEqual([table, 0]);
    });

    test('or unknown, or on a page that does not exist, is refused', async () => {
      const id = '019a7f72-6b1d-7c3a-9f10-2d4e6f8a0b1c';
      for (const path of [id, `${id}/rows`])
        await board.http.get(`/api/v1/experiments/${path}`).expect(404, { detail: `Experiment not found: ${id}` });
      const known = (await experiments.run(ofCsv())).experiment_id;
      const { body } = await board.http.get(`/api/v1/experiments/${known}/rows`).query({ after: 'x' }).expect(400);
      expect(body).toEqual({ detail: 'after: must be next of an earlier page with the same filters (got "x")' });
    });
  });
});
