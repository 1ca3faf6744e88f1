// A budget holds over all replicas: each of them runs agents of one correlation at the same time.
import { ModelServer, USED } from '../support/model-server.js';
import { engine, setKeys } from '../engines/llm/llm-board.js';
import { tally } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const CALL = USED.input + USED.output;
const AGENTS = 12;
const WITHIN = 5;

const config = (models: ModelServer): string => `
budget: { tokens: ${WITHIN * CALL} }
types: { Start: {} }
agents:
${Array.from({ length: AGENTS }, (_, index) => `  agent${index}: { consumes: [{ types: [Start] }], publishes: [{ type: Made }], engine: ${engine(models)} }`).join('\n')}
  next: { consumes: [{ types: [Made] }], publishes: [{ type: Next }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

test('of two replicas that work on one correlation, exactly one finds that it is overrun', async () => {
  setKeys();
  const models = await ModelServer.start(() => ({ text: '{"done":true}' }));
  const replicas = new Replicas();
  const one = await replicas.start(config(models), { role: WORKER });
  await replicas.start(config(models), { role: WORKER });
  const correlations = await Promise.all(Array.from({ length: 6 }, () => one.publish('Start', {})));
  for (const correlation of correlations) {
    const status = await one.ended(correlation);
    expect(status).toMatchObject({ has_pending_work: false, error_count: 1 });
    const types = tally(await one.types(correlation));
    expect(types).toMatchObject({ Start: 1, Made: WITHIN, WorkflowError: 1 });
    const states = await one.app.database.rows<{ state: string }>(`select state from executions where correlation_id = '${correlation}'`);
    expect(tally(states.map(({ state }) => state))).toMatchObject({ failed: 1, completed: WITHIN + (types.Next ?? 0) });
    expect(states.filter(({ state }) => state === 'pending' || state === 'running')).toEqual([]);
  }
  await replicas.close();
  await models.close();
});
