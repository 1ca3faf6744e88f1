import { engine, setKeys } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { connected } from '../support/postgres-cluster.js';
import { Board } from './board.js';

const config = (models: ModelServer): string => `
budget: { tokens: 1000 }
types: { Task: {}, Question: {} }
agents:
  person: { consumes: [{ types: [Task] }], engine: { kind: external } }
  asker: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models, 'max_output_tokens: 50')} }
`;

test('an execution that overruns a budget is locked after those of its correlation with lower ids, as everywhere', async () => {
  setKeys();
  const models = await ModelServer.start();
  const held = Promise.withResolvers<void>();
  models.script = () => ({ text: '{"text":"Much."}', before: held.promise });
  models.used = () => ({ input: 5_000, output: 5_000 });
  const board = await Board.start(config(models));
  const isWaitedFor = async (): Promise<boolean> =>
    (
      await board.app.database.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).length > 0;
  try {
    await board.publish('Task', {}, { correlation: 'c' });
    await board.publish('Question', {}, { correlation: 'c' });
    await eventually('the model is asked', () => models.requests.length === 1);
    await connected(board.app.database.url, async (session) => {
      await session.query('begin');
      await session.query(`select id from executions where agent = 'person' for update`);
      held.resolve();
      await eventually('the other execution is waited for', isWaitedFor);
      // Fails if the one that has overrun it is locked already.
      await session.query(`select id from executions where agent = 'asker' for update nowait`);
      await session.query('commit');
    });
    expect(await board.ended('c')).toMatchObject({ error_count: 1 });
    const states = await board.app.database.rows('select agent, state from executions order by seq');
    expect(states).toEqual([
      { agent: 'person', state: 'cancelled' },
      { agent: 'asker', state: 'failed' },
    ]);
  } finally {
    held.resolve();
    await board.close();
    await models.close();
  }
});
