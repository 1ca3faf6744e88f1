// The data sets of experiments over HTTP that replay what has run. Uses the application, its database, and a model server of
// the test that speaks the wire format of OpenAI-compatible servers.
import { eventually } from '../support/eventually.js';
import { ACCURACY, ExperimentApp } from './experiment-app.js';
import { meansOf, variantOf } from './experiment-board.js';

describe('an experiment', () => {
  const app = new ExperimentApp();

  beforeEach(() => app.open());
  afterEach(() => app.close());

  test('replays originals, and does not run agents again that have not changed', async () => {
    const originals = ['one card', 'two cats'];
    for (const [index, text] of originals.entries()) {
      await app.board.publish('Message', { text }, { correlation: `order-${index}` });
      await app.board.ended(`order-${index}`);
    }
    const overrides = { responder: { expression: '{"text": "Your " + payload.intent}' } };
    const done = await app.experiments.run({
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
    expect(await app.count(`${replayed} and agent = 'classifier'`)).toBe(4);
    expect(await app.count(`${replayed} and agent = 'classifier' and executions.replay = 1`)).toBe(0);
    expect(await app.count(`${replayed} and agent = 'responder' and executions.replay = 1`)).toBe(2);

    const again = await app.experiments.run({
      data: { correlations: ['order-1', 'nope'] },
      expected: { path: '/text' },
      output: 'Reply',
      variants: [{ name: 'now' }, { name: 'your', overrides }],
      scorers: [{ name: 'about', kind: 'contains', path: '/text' }],
    });
    expect(again).toMatchObject({ state: 'completed', ended_trials: 4, failed_trials: 2 });
    const [known, unknown] = await app.experiments.rows(again.experiment_id);
    expect(known).toMatchObject({
      origin: 'order-1',
      expected: '"two cats"',
      trials: [{}, { scores: [{ score: 0 }] }],
    });
    expect(unknown!.trials.map(({ error }) => error)).toEqual(
      Array(2).fill('Correlation not found: nope; retention may have deleted it'),
    );
  });

  test('takes the path of a scorer in the output of the original, too', async () => {
    await app.board.publish('Message', { text: 'one card' }, { correlation: 'order' });
    await app.board.ended('order');
    const done = await app.experiments.run({
      data: { correlations: ['order'] },
      expected: { recorded: true },
      output: 'Reply',
      variants: [
        { name: 'now' },
        { name: 'more', overrides: { responder: { expression: '{"text": "Not " + payload.intent}' } } },
      ],
      scorers: [
        { name: 'same', kind: 'equals', path: '/text' },
        { name: 'within', kind: 'contains', path: '/text' },
        { name: 'nothing', kind: 'equals', path: '/tag' },
      ],
    });
    expect(meansOf(done, 'same')).toEqual([1, 0]);
    expect(meansOf(done, 'within')).toEqual([1, 0]);
    const [row] = await app.experiments.rows(done.experiment_id);
    const error = 'the Reply of the original has nothing at "/tag" to compare with';
    expect(row!.trials).toMatchObject(Array(2).fill({ scores: [{}, {}, { score: null, error }] }));
  });

  test('compares an artifact with what followed from it, not from others of its correlation', async () => {
    for (const text of ['a card', 'a cat']) await app.board.publish('Message', { text }, { correlation: 'both' });
    await app.board.ended('both');
    const done = await app.experiments.run({
      data: { artifacts: { type: 'Message' } },
      expected: { recorded: true },
      output: 'Reply',
      variants: [{ name: 'now' }, { name: 'again' }],
      scorers: [{ name: 'same', kind: 'equals' }],
    });
    expect(meansOf(done, 'same')).toEqual([1, 1]);
    const rows = await app.experiments.rows(done.experiment_id);
    expect(rows.map(({ expected }) => expected)).toEqual(['{"text":"About card"}', '{"text":"About other"}']);
  });

  test('takes the artifacts that match all conditions, and only so many', async () => {
    for (const [index, tags] of [['old', 'chosen'], ['chosen'], ['old']].entries()) {
      await app.board.publish('Message', { text: `card ${index}` }, { correlation: `order-${index}`, tags });
      await app.board.ended(`order-${index}`);
    }
    const inputsOf = async (more: object, limit?: number): Promise<(string | undefined)[]> => {
      const done = await app.experiments.run({
        data: { artifacts: { type: 'Message', ...more }, limit },
        output: 'Intent',
        variants: [{ name: 'now' }, { name: 'again' }],
        scorers: [{ name: 'latency', kind: 'latency' }],
      });
      return (await app.experiments.rows(done.experiment_id)).map(({ input }) => input);
    };
    const [first, second, third] = [0, 1, 2].map((index) => JSON.stringify({ text: `card ${index}` }));
    expect(await inputsOf({})).toEqual([first, second, third]);
    expect(await inputsOf({ tags: ['chosen'] })).toEqual([first, second]);
    expect(await inputsOf({ tags: ['old', 'chosen'], from: '2000-01-01' })).toEqual([first]);
    expect(await inputsOf({ tags: ['chosen'] }, 1)).toEqual([first]);
  });

  test('replays the runs of a batch', async () => {
    const batch = await app.board.http
      .post('/run/batch')
      .send({ agent_name: 'classifier', batch_inputs: [{ text: 'a card' }, { text: 'a cat' }] })
      .expect(200);
    const { batch_id: id } = batch.body as { batch_id: string };
    await eventually('the batch has ended', async () => {
      const { body } = await app.board.http.get(`/batch/${id}`).expect(200);
      return (body as { status: string }).status === 'completed';
    });
    const expression = '{"intent": "card"}';
    const done = await app.experiments.run({
      data: { batch: id },
      expected: { recorded: true },
      output: 'Intent',
      variants: [{ name: 'now' }, { name: 'card', overrides: { classifier: { expression } } }],
      scorers: [{ ...ACCURACY, kind: 'cel', path: undefined, expression: 'output.intent == expected.intent' }],
    });
    expect(meansOf(done, 'accuracy')).toEqual([1, 0.5]);
  });

  test('asks models again with mode shadow, also without an override', async () => {
    await app.board.publish('Work', { topic: 'cards' }, { correlation: 'work' });
    await app.board.ended('work');
    expect(app.models.requests).toHaveLength(1);
    const done = await app.experiments.run({
      data: { correlations: ['work'] },
      output: 'Reply',
      mode: 'shadow',
      variants: [{ name: 'now' }, { name: 'brief', overrides: { speaker: { instructions: 'Be brief.' } } }],
      scorers: [{ name: 'cost', kind: 'cost' }],
    });
    expect(done).toMatchObject({ state: 'completed', failed_trials: 0, definition: { mode: 'shadow' } });
    expect(app.models.requests).toHaveLength(3);
  });
});
