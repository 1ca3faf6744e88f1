import { readFileSync } from 'node:fs';

import { parse } from 'csv-parse/sync';

import { startApp, type TestApp } from '../support/app.js';

const EXAMPLE = new URL('../../examples/support-desk/', import.meta.url);
const contentOf = (file: string): string => readFileSync(new URL(`banking77/${file}`, EXAMPLE), 'utf8');

interface Answer {
  correlation_id: string;
  completed: boolean;
  artifacts: { type: string; produced_by: string; payload: Record<string, unknown> }[];
}

// Uses the example's configuration and agents, the messages of BANKING77, HTTP and a SQLite file. Nothing is faked.
describe('the support desk', () => {
  let desk: TestApp;
  beforeAll(async () => {
    desk = await startApp({ configFile: new URL('starling.yaml', EXAMPLE).pathname });
  });
  afterAll(() => desk.close());

  const publish = async (type: string, payload: object): Promise<Answer> => {
    const response = await desk.http.post('/api/v1/artifacts/sync').send({ type, payload }).expect(200);
    expect(response.body.completed).toBe(true);
    return response.body as Answer;
  };
  const payloadOf = (answer: Answer, type: string) =>
    answer.artifacts.find((artifact) => artifact.type === type)?.payload;

  it('classifies, routes and answers a message that it understands', async () => {
    const answer = await publish('CustomerMessage', { text: 'I am still waiting on my card?' });

    expect(answer.artifacts.map(({ type, produced_by }) => `${produced_by}: ${type}`)).toEqual([
      'classifier: Intent',
      'router: Routing',
      'responder: Reply',
    ]);
    expect(payloadOf(answer, 'Intent')).toMatchObject({ intent: 'card_arrival' });
    expect(payloadOf(answer, 'Routing')).toEqual({ intent: 'card_arrival', queue: 'cards', priority: 'normal' });
    expect(payloadOf(answer, 'Reply')?.text).toMatch(
      /^Thank you for your message \(topic: card arrival\)\. .+ within a working day\.$/,
    );
  });

  it('asks a person about a message that it does not understand', async () => {
    const answer = await publish('CustomerMessage', { text: 'What is your name?' });

    const { intent, confidence, alternatives } = payloadOf(answer, 'Intent')!;
    expect(confidence).toBeLessThan(0.5);
    expect(payloadOf(answer, 'HumanReview')).toEqual({
      question: expect.stringMatching(/^Is this about .+\? The classifier is only \d+ % sure\.$/),
      intent,
      confidence,
      alternatives,
      queue: payloadOf(answer, 'Routing')!.queue,
    });
  });

  it('keeps the line breaks of a message', async () => {
    const rows = parse(contentOf('test.csv'), { columns: true }) as { text: string }[];
    const { text } = rows.find((row) => row.text.includes('\n'))!;

    const { correlation_id } = await publish('CustomerMessage', { text });

    const { body } = await desk.http
      .get('/api/v1/artifacts')
      .query({ correlation_id, type: 'CustomerMessage' })
      .expect(200);
    expect(body.items[0].payload.text).toBe(text);
  });

  it('has a queue and an answer for each of the 77 intents', async () => {
    const intents = JSON.parse(contentOf('categories.json')) as string[];
    const queues = new Map<unknown, number>();
    for (const intent of intents) {
      const answer = await publish('Intent', { intent, confidence: 1, alternatives: [] });
      const queue = payloadOf(answer, 'Routing')?.queue;
      queues.set(queue, (queues.get(queue) ?? 0) + 1);
      expect(payloadOf(answer, 'Reply')?.text).not.toMatch(/undefined|_|\?/);
    }

    expect(Object.fromEntries(queues)).toEqual({
      security: 6,
      'top-ups': 10,
      transfers: 12,
      cash: 7,
      payments: 9,
      exchange: 4,
      account: 9,
      cards: 20,
    });
  });

  it('refuses a message without text', async () => {
    const response = await desk.http
      .post('/api/v1/artifacts/sync')
      .send({ type: 'CustomerMessage', payload: {} })
      .expect(400);
    expect(response.body.detail).toContain('text');
  });
});
