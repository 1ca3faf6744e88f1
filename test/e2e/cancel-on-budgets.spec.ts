// Executions that cancel_on ends while they use a budget, or wait for it. Uses the application, its database, the AI SDK and
// HTTP. The model server is a stand-in.
import { engine, setKeys, TYPES } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Board } from './board.js';

const GOOD = { text: '{"text":"It is on its way."}' };

const config = (models: ModelServer, tokens: number): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
budget: { tokens: ${tokens} }
${TYPES}
agents:
  asker: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models, 'max_output_tokens: 50')}, timeout: 1h, cancel_on: { types: [Withdrawn], key: artifact.partition_key } }
`;

describe('cancel_on and a budget', () => {
  let models: ModelServer;
  let board: Board;
  const held = Promise.withResolvers<void>();

  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start();
    models.script = (_request, number) => (number === 0 ? { ...GOOD, before: held.promise } : GOOD);
  });
  afterAll(async () => {
    held.resolve();
    await board?.close();
    await models?.close();
  });

  const ask = (key: string): Promise<string> =>
    board.publish('Question', { text: 'Where is it?' }, { correlation: 'asked', partition_key: key });

  const state = async (key: string): Promise<string> => {
    const [row] = await board.app.database.rows<{ state: string }>(
      `select executions.state from executions
      join execution_inputs on execution_inputs.execution_id = executions.id
      join artifacts on artifacts.seq = execution_inputs.artifact_seq where artifacts.partition_key = '${key}'`,
    );
    return row!.state;
  };

  const waiters = (): Promise<object[]> =>
    board.app.database.rows('select execution_id from budget_reservations where waits = 1');

  it('neither block it nor leave anything reserved', async () => {
    // One call reserves nearly all of it.
    board = await Board.start(config(models, 1_000), { settings: { shutdownGraceMs: 0 } });
    await ask('running');
    await eventually('the model is asked', () => models.requests.length === 1);
    const [{ tokens }] = (await board.app.database.rows('select tokens from budget_reservations')) as [
      { tokens: number },
    ];
    await board.http.post('/api/v1/correlations/asked/cancel').expect(200);
    await board.close();

    models.requests.length = 0;
    board = await Board.start(config(models, 2 * Number(tokens) - 1), { settings: { shutdownGraceMs: 0 } });
    await ask('first');
    await eventually('the model is asked', () => models.requests.length === 1);
    await ask('second');
    await eventually('it waits for room', async () => (await waiters()).length === 1);
    await board.publish('Withdrawn', {}, { partition_key: 'second' });
    await eventually('it is cancelled', async () => (await state('second')) === 'cancelled');
    expect(await waiters()).toEqual([]);
    await ask('third');
    await eventually('it waits for room', async () => (await waiters()).length === 1);
    await board.publish('Withdrawn', {}, { partition_key: 'first' });
    // The call counts as all that it reserved, or as what it has used: the third fails, or is answered.
    await board.ended('asked');
    expect(await state('first')).toBe('cancelled');
    expect(['completed', 'failed']).toContain(await state('third'));
    await eventually(
      'nothing is reserved',
      async () => (await board.app.database.rows('select execution_id from budget_reservations')).length === 0,
    );
  });
});
