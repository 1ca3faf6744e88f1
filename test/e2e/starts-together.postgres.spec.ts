import { Board } from './board.js';

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: expression, expression: '{"n": payload.n * 2.0}' }
`;
const CROWD = 64;

describe('runs that start at the same time', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG);
  });

  afterAll(() => board.close());

  it.each([
    ['runs of workflows', (n: number) => board.http.post('/run/flock').send({ agent_name: 'double', inputs: { n } })],
    [
      'runs of one agent',
      (n: number) =>
        board.http.post('/api/v1/agents/double/run').send({ inputs: [{ type: 'Number', payload: { n } }] }),
    ],
  ])('share transactions: %s', async (_what, run) => {
    const [{ last }] = (await board.app.database.rows('select coalesce(max(seq), 0) as last from artifacts')) as [
      { last: number },
    ];
    const answers = await Promise.all(Array.from({ length: CROWD }, (_, n) => run(n)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // The transaction that has inserted a row.
    const stored = await board.app.database.rows<{ xmin: string }>(
      `select xmin::text from artifacts where type = 'Number' and seq > ${last}`,
    );
    expect(stored).toHaveLength(CROWD);
    expect(new Set(stored.map(({ xmin }) => xmin)).size).toBeLessThan(CROWD / 2);
  });
});
