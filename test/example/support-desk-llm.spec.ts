import { startApp, type TestApp } from '../support/app.js';
import { ModelServer, USED } from '../support/model-server.js';

const CONFIGURATION = new URL('../../examples/support-desk/starling.llm.yaml', import.meta.url).pathname;

// Uses the example's configuration and agents, the AI SDK, HTTP and a SQLite file. The model is a stand-in.
describe('the support desk with a language model', () => {
  let models: ModelServer;
  let desk: TestApp;
  beforeAll(async () => {
    process.env.OPENAI_API_KEY = 'sk-desk';
    models = await ModelServer.start();
    desk = await startApp({
      configFile: CONFIGURATION,
      environment: { RESPONDER_URL: models.url, OPENAI_API_KEY: 'sk-desk' },
    });
  });
  afterAll(async () => {
    await desk.close();
    await models.close();
  });

  it('answers the customer as the routing says, and reports the cost', async () => {
    const reply = {
      text: 'Your card is on its way. A colleague will look at it within a working day.',
      intent: 'card_arrival',
    };
    models.answers({ text: JSON.stringify(reply) });
    const text = 'I am still waiting on my card?';
    const { body } = await desk.http
      .post('/api/v1/artifacts/sync')
      .send({ type: 'CustomerMessage', payload: { text } })
      .expect(200);
    const artifacts = body.artifacts as { type: string; payload: object }[];
    expect(artifacts.map(({ type }) => type)).toEqual(['Intent', 'Routing', 'Reply']);
    expect(artifacts[2]!.payload).toEqual(reply);

    const { input, text: form } = models.requests[0]!.body as {
      input: [unknown, { content: [{ text: string }] }];
      text: { format: { schema: object } };
    };
    const lines = input[1].content[0].text.split('\n');
    const typesBetween = (from: string, to: string) =>
      lines
        .slice(lines.indexOf(from) + 1, lines.indexOf(to))
        .map((line) => (JSON.parse(line) as { type: string }).type);
    expect([typesBetween('<context>', '</context>'), typesBetween('<inputs>', '</inputs>')]).toEqual([
      ['CustomerMessage', 'Intent'],
      ['Routing'],
    ]);
    expect(lines.join()).toContain(text);
    expect(form.format.schema).toMatchObject({ required: ['text', 'intent'] });

    const { body: status } = await desk.http.get(`/api/v1/correlations/${body.correlation_id}/status`).expect(200);
    expect(status.usage).toEqual({
      input_tokens: USED.input,
      output_tokens: USED.output,
      cost: (USED.input * 0.25 + USED.output * 2) / 1_000_000,
    });
  });
});
