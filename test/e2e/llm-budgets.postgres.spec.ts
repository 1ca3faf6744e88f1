// A budget applies to all replicas together: each of them runs agents of one correlation at the same time.
import { engine, setKeys } from '../engines/llm/llm-board.js';
import { type ModelRequest, ModelServer } from '../support/model-server.js';
import { tally } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const AGENTS = 12;
const BUDGET = 1_000;
/** Less than the reservation. */
const used = ({ text }: ModelRequest) => ({ input: Math.floor(Buffer.byteLength(text) / 8), output: 20 });

const config = (models: ModelServer): string => `
budget: { tokens: ${BUDGET} }
types: { Start: {} }
agents:
${Array.from({ length: AGENTS }, (_, index) => `  agent${index}: { consumes: [{ types: [Start] }], publishes: [{ type: Made }], engine: ${engine(models, 'max_output_tokens: 50')} }`).join('\n')}
  next: { consumes: [{ types: [Made] }], publishes: [{ type: Next }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

test('with two replicas on one correlation, as many agents answer as the budget allows, and exactly one finds it exhausted', async () => {
  setKeys();
  const models = await ModelServer.start(() => ({ text: '{"done":true}' }));
  models.used = used;
  const replicas = new Replicas();
  const one = await replicas.start(config(models), { role: WORKER });
  await replicas.start(config(models), { role: WORKER });
  const correlations = await Promise.all(Array.from({ length: 6 }, () => one.publish('Start', {})));
  for (const correlation of correlations) {
    const status = await one.ended(correlation);
    expect(status).toMatchObject({ has_pending_work: false, error_count: 1 });
    const { usage } = status as unknown as { usage: { input_tokens: number; output_tokens: number } };
    const spent = usage.input_tokens + usage.output_tokens;
    expect(spent).toBeLessThanOrEqual(BUDGET);
    const types = tally(await one.types(correlation));
    expect(types).toMatchObject({ Start: 1, WorkflowError: 1 });
    expect(types.Made).toBe(usage.output_tokens / 20);
    // There was not enough for one more, whose reservation is less than twice its usage.
    expect(spent + (3 * spent) / types.Made!).toBeGreaterThan(BUDGET);
    const states = await one.app.database.rows<{ state: string }>(
      `select state from executions where correlation_id = '${correlation}'`,
    );
    expect(tally(states.map(({ state }) => state))).toMatchObject({
      failed: 1,
      completed: types.Made! + (types.Next ?? 0),
    });
    expect(states.filter(({ state }) => state === 'pending' || state === 'running')).toEqual([]);
  }
  expect(await one.app.database.rows('select execution_id from budget_reservations')).toEqual([]);
  await replicas.close();
  await models.close();
});
