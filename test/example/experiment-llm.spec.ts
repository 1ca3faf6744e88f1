// Uses the configuration and agents of the example with a language model, the AI SDK, HTTP and a SQLite file. The model is a
// stand-in.
import { Experiments, meansOf, variantOf } from '../e2e/experiment-board.js';
import { startApp, type TestApp } from '../support/app.js';
import { ModelServer, USED } from '../support/model-server.js';

const CONFIGURATION = new URL('../../examples/support-desk/starling.llm.yaml', import.meta.url).pathname;
const MESSAGES = [
  'When will I get my card?',
  'Why was my top-up declined?',
  'What is the $1 transaction on my account?',
];
const COST = (USED.input * 0.25 + USED.output * 2) / 1_000_000;

describe('two prompts for the support desk', () => {
  let models: ModelServer;
  let desk: TestApp;

  beforeAll(async () => {
    process.env.OPENAI_API_KEY = 'sk-desk';
    // The prompt decides on the text.
    models = await ModelServer.start(({ text }) => ({
      text: JSON.stringify({
        text: text.includes('in one word') ? 'Soon.' : 'It is on its way.',
        intent: 'card_arrival',
      }),
    }));
    desk = await startApp({
      configFile: CONFIGURATION,
      environment: { RESPONDER_URL: models.url, OPENAI_API_KEY: 'sk-desk' },
    });
    for (const text of MESSAGES)
      await desk.http.post('/api/v1/artifacts/sync').send({ type: 'CustomerMessage', payload: { text } }).expect(200);
  });
  afterAll(async () => {
    await desk?.close();
    await models?.close();
  });

  it('are compared on recorded messages, and the agents before the responder do not run again', async () => {
    models.requests.length = 0;
    const done = await new Experiments(desk.http).run({
      data: { artifacts: { type: 'CustomerMessage' } },
      output: 'Reply',
      variants: [
        { name: 'friendly', overrides: { responder: { instructions: 'Answer the customer in a friendly way.' } } },
        { name: 'short', overrides: { responder: { instructions: 'Answer the customer in one word.' } } },
      ],
      scorers: [
        { name: 'cost', kind: 'cost' },
        { name: 'short', kind: 'cel', expression: 'size(output.text) < 10' },
      ],
    });

    expect(done).toMatchObject({ state: 'completed', ended_trials: 6, failed_trials: 0 });
    expect(meansOf(done, 'short')).toEqual([0, 1]);
    for (const mean of meansOf(done, 'cost')) expect(mean).toBeCloseTo(COST, 12);
    expect(variantOf(done, 'short').changed_rows).toBe(MESSAGES.length);
    expect(models.requests).toHaveLength(2 * MESSAGES.length);
    expect(done.usage!.cost).toBeCloseTo(6 * COST, 12);

    const ran = await desk.database.rows<{ agent: string; replay: number | string; count: number | string }>(
      'select agent, replay, count(*) as count from executions where replay > 0 group by agent, replay order by agent, replay',
    );
    const counts = ran.map(({ agent, replay, count }) => [
      agent,
      Number(replay) === 2 ? 'recorded' : 'run',
      Number(count),
    ]);
    expect(counts.filter(([, how]) => how === 'run')).toEqual([['responder', 'run', 6]]);
    expect(counts).toContainEqual(['classifier', 'recorded', 6]);
  });
});
