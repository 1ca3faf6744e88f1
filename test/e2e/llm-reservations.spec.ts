// Model calls reserve budget before they start. Uses the application, its database, the AI SDK and HTTP. The model
// server is a stand-in, which reports the usage of each call.
import { engine, errorOf, setKeys, TYPES } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { type ModelRequest, ModelServer, type Used } from '../support/model-server.js';
import { printedSeed, Random } from '../support/random.js';
import { Board, tally } from './board.js';

const QUESTIONS = 20;
const OUTPUT = 50;
const TEXT = 'Where is it?';
const GOOD = { text: '{"text":"It is on its way."}' };

const config = (models: ModelServer, budget: string, agent = '', concurrency = QUESTIONS): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
${budget}
${TYPES}
agents:
  asker: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models, `max_output_tokens: ${OUTPUT}`)}, concurrency: ${concurrency}${agent} }
`;

/** Returns the reservation for the call of a question, from the error when there is not enough budget for it. */
async function needOf(models: ModelServer): Promise<number> {
  const board = await Board.start(config(models, 'budget: { tokens: 1 }'));
  const correlation = await board.publish('Question', { text: TEXT });
  expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
  const { error_type, error_message } = (await errorOf(board, correlation)) as Record<
    'error_type' | 'error_message',
    string
  >;
  await board.close();
  expect(error_type).toBe('budget');
  return Number(
    /^this correlation has a budget of 1 tokens and has used 0, and the next model call may use (\d+) tokens, so it ends here; /.exec(
      error_message,
    )![1],
  );
}

describe('a budget', () => {
  let models: ModelServer;
  let need: number;
  let board: Board;

  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start();
    need = await needOf(models);
    expect(models.requests).toEqual([]);
  });
  beforeEach(() => {
    models.answers(GOOD);
    models.used = () => ({ input: 100, output: 20 });
  });
  afterEach(() => board.close());
  afterAll(() => models.close());

  const start = async (budget: string, agent = '', concurrency = QUESTIONS): Promise<void> => {
    board = await Board.start(config(models, budget, agent, concurrency), { settings: { shutdownGraceMs: 0 } });
  };

  const ask = async (correlation: string, count: number): Promise<void> => {
    await board.http.post('/api/v1/agents/asker/pause').expect(200);
    for (let n = 0; n < count; n += 1) await board.publish('Question', { text: TEXT }, { correlation });
    await board.http.post('/api/v1/agents/asker/resume').expect(200);
  };

  async function spent(correlation: string): Promise<number> {
    const { usage } = (await board.status(correlation)) as unknown as {
      usage?: { input_tokens: number; output_tokens: number };
    };
    return usage ? usage.input_tokens + usage.output_tokens : 0;
  }

  const reservations = (): Promise<object[]> => board.app.database.rows('select execution_id from budget_reservations');

  it.each([
    ['of the correlation', (tokens: number) => start(`budget: { tokens: ${tokens} }`)],
    ['of the agent', (tokens: number) => start('', `, budget: { tokens: ${tokens} }`)],
    // Half a token more, because sums of cost are rounded: none is exactly as large as the budget.
    ['of cost', (tokens: number) => start(`budget: { cost: ${(tokens + 0.5) / 1_000} }`)],
  ])('%s is not overrun, however many attempts start together, and is used as far as possible', async (_, begin) => {
    const random = new Random(printedSeed());
    // Room for five reservations, and for less than a sixth.
    const budget = 5 * need + random.between(0, need - 1);
    models.used = (): Used => ({ input: random.between(1, need - OUTPUT), output: random.between(1, OUTPUT) });
    let underWay = 0;
    let most = 0;
    models.script = () => {
      underWay += 1;
      most = Math.max(most, underWay);
      const before = new Promise<void>((resolve) =>
        setTimeout(() => resolve(void (underWay -= 1)), random.between(1, 20)),
      );
      return { ...GOOD, before };
    };
    await begin(budget);
    for (let round = 1; round <= 3; round += 1) {
      most = 0;
      await ask(`round-${round}`, QUESTIONS);
      const { error_count } = await board.ended(`round-${round}`);
      const used = await spent(`round-${round}`);
      expect(used).toBeLessThanOrEqual(budget);
      expect(most).toBeLessThanOrEqual(5);
      const { Reply = 0 } = tally(await board.types(`round-${round}`));
      // The attempt that fails the correlation has waited until no other was at work.
      if (error_count === 1) expect(used + need).toBeGreaterThan(budget);
      else expect(Reply).toBe(QUESTIONS);
      const states = await board.app.database.rows<{ state: string; attempt: number }>(
        `select state, attempt from executions where correlation_id = 'round-${round}'`,
      );
      expect(tally(states.map(({ state }) => state))).toEqual({
        completed: Reply,
        ...(error_count === 1 && { failed: 1, ...(QUESTIONS - Reply > 1 && { cancelled: QUESTIONS - Reply - 1 }) }),
      });
      expect(states.every(({ attempt }) => attempt === 1)).toBe(true);
    }
    expect(await reservations()).toEqual([]);
  });

  it('reserved by others makes an attempt wait in the queue, where it takes no slot and counts as no attempt', async () => {
    await start(`budget: { tokens: ${need + 150} }`, '', 2);
    const held = Promise.withResolvers<void>();
    models.script = (_request, number) => (number === 0 ? { ...GOOD, before: held.promise } : GOOD);
    await board.publish('Question', { text: TEXT }, { correlation: 'first' });
    await eventually('it is asked', () => models.requests.length === 1);
    await board.publish('Question', { text: TEXT }, { correlation: 'first' });
    const [, { id }] = (await board.artifacts('first')) as [unknown, { id: string }];
    const detail = async (): Promise<string> => {
      const { body } = await board.http.get(`/api/v1/artifacts/${id}/explain`).expect(200);
      return JSON.stringify(body);
    };
    await eventually('it waits', async () => (await detail()).includes('waits until there is room in its budget'));
    const waits = (await board.http.get('/api/v1/correlations/first/waiting').expect(200)).body as { items: object[] };
    expect(waits.items).toMatchObject([{ kind: 'running' }, { kind: 'budget', attempt: 1, until: null }]);
    // One of the agent's two slots is taken.
    expect(
      (await board.publishSync('Question', { text: TEXT }, { correlation: 'second' })).artifacts.map(
        ({ type }) => type,
      ),
    ).toEqual(['Reply']);
    expect(models.requests).toHaveLength(2);
    held.resolve();
    expect(await board.ended('first')).toMatchObject({ state: 'completed', error_count: 0 });
    expect(tally(await board.types('first'))).toEqual({ Question: 2, Reply: 2 });
    const [attempts] = await board.app.database.rows<{ n: number }>(
      `select (select count(*) from execution_attempts) + (select max(attempt) from executions) as n from executions limit 1`,
    );
    expect(Number(attempts!.n)).toBe(1);
  });

  it('reserved by others makes an attempt that has already called its model wait in its slot', async () => {
    await start(`budget: { tokens: ${2 * need + 200} }`);
    const held = Promise.withResolvers<void>();
    const isSecond = ({ text }: ModelRequest): boolean => text.includes('was refused');
    models.script = (request, number) =>
      number === 0 ? { ...GOOD, before: held.promise } : isSecond(request) ? GOOD : { text: 'no' };
    await board.publish('Question', { text: TEXT }, { correlation: 'both' });
    await eventually('the first is asked', () => models.requests.length === 1);
    // Its reservation is larger, because it is longer.
    await board.publish('Question', { text: TEXT.repeat(30) }, { correlation: 'both' });
    await eventually('the second has answered', async () => (await spent('both')) === 120);
    await new Promise((resolve) => setImmediate(resolve));
    expect(models.requests).toHaveLength(2);
    held.resolve();
    expect(await board.ended('both')).toMatchObject({ state: 'completed', error_count: 0 });
    expect([models.requests.length, await spent('both')]).toEqual([3, 360]);
    expect(await reservations()).toEqual([]);
  });

  it('gets back the reservation of a call that the provider refuses', async () => {
    await start(`budget: { tokens: ${need + 10} }`, ', retry: { attempts: 1 }', 2);
    models.answers({ status: 500, message: 'broken' }, GOOD);
    await ask('failing', 2);
    await board.ended('failing');
    expect(tally(await board.types('failing'))).toEqual({ Question: 2, WorkflowError: 1, Reply: 1 });
    expect([await spent('failing'), await reservations()]).toEqual([120, []]);
  });

  it('counts a running call when its correlation is cancelled, once', async () => {
    await start(`budget: { tokens: ${need + 10} }`);
    models.script = () => ({ ...GOOD, before: new Promise(() => undefined) });
    await ask('cancelled', 1);
    await eventually('it is asked', () => models.requests.length === 1);
    await board.http.post('/api/v1/correlations/cancelled/cancel').expect(200);
    // It is removed in the transaction of the cancelling, even if the process dies.
    expect([await spent('cancelled'), await reservations()]).toEqual([need, []]);
    const counted = async (): Promise<number> => {
      const { text } = await board.http.get('/metrics');
      return [...text.matchAll(/^starling_model_tokens_total\{.*\} (\d+)$/gm)].reduce(
        (sum, [, tokens]) => sum + Number(tokens),
        0,
      );
    };
    await eventually('its process has counted it', async () => (await counted()) > 0);
    expect([await spent('cancelled'), await counted()]).toEqual([need, need]);
    expect(await board.app.database.rows('select execution_id from usage')).toHaveLength(1);
  });

  it('counts the reservation of a cancelled call as used', async () => {
    await start(`budget: { tokens: ${need + 10} }`, ', retry: { attempts: 1 }', 2);
    models.script = () => ({ ...GOOD, before: new Promise(() => undefined) });
    await ask('cancelled', 2);
    await eventually(
      'one is asked and one waits',
      async () => models.requests.length === 1 && (await reservations()).length === 2,
    );
    await board.http.post('/api/v1/correlations/cancelled/cancel').expect(200);
    await eventually('it is counted', async () => (await spent('cancelled')) === need);
    expect(await reservations()).toEqual([]);
  });

  it('limits the output of the model if neither the agent nor its model has a limit', async () => {
    board = await Board.start(
      config(models, 'budget: { tokens: 10000 }').replace(`, max_output_tokens: ${OUTPUT}`, ''),
    );
    await board.publishSync('Question', { text: TEXT });
    expect(models.requests[0]!.body.max_output_tokens).toBe(4_096);
    await board.close();
    models.requests.length = 0;
    board = await Board.start(config(models, '').replace(`, max_output_tokens: ${OUTPUT}`, ''));
    await board.publishSync('Question', { text: TEXT });
    expect(models.requests[0]!.body.max_output_tokens).toBeUndefined();
    expect(await reservations()).toEqual([]);
  });
});
