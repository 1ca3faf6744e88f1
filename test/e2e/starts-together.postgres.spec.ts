import { QUEUED } from '../support/queued-agents.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  queued:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: function, module: ./double.js }
  inline:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: expression, expression: '{"n": payload.n * 2.0}' }
`;
const CROWD = 64;

describe('runs that start at the same time', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: QUEUED });
  });

  afterAll(() => board.close());

  const workflow = (agent: string, n: number) =>
    board.http.post('/run/flock').send({ agent_name: agent, inputs: { n } });
  const direct = (agent: string, n: number) =>
    board.http.post(`/api/v1/agents/${agent}/run`).send({ inputs: [{ type: 'Number', payload: { n } }] });

  it.each([
    ['runs of workflows', 'queued', workflow],
    ['runs of one agent', 'queued', direct],
    ['runs of workflows that end in them', 'inline', workflow],
    ['runs of one agent that end in them', 'inline', direct],
  ])('share transactions: %s', async (_what, agent, run) => {
    const [{ last }] = (await board.app.database.rows('select coalesce(max(seq), 0) as last from artifacts')) as [
      { last: number },
    ];
    const answers = await Promise.all(Array.from({ length: CROWD }, (_, n) => run(agent, n)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // The transaction that has inserted a row.
    const stored = await board.app.database.rows<{ xmin: string }>(
      `select xmin::text from artifacts where type = 'Number' and seq > ${last}`,
    );
    expect(stored).toHaveLength(CROWD);
    expect(new Set(stored.map(({ xmin }) => xmin)).size).toBeLessThan(CROWD / 2);
  });
});
