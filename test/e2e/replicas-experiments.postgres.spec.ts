import { eventually } from '../support/eventually.js';
import { Board } from './board.js';
import { comparisonOf, Experiments } from './experiment-board.js';
import { Replicas, SERVER } from './replica-boards.js';

const CONFIG = `
types:
  Row: { schema: { type: object, required: [n], properties: { n: { type: integer } } } }
  List: {}
  Question: {}
agents:
  reader: { consumes: [{ types: [List] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": true}' } }
  clerk: { consumes: [{ types: [Row] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": int(payload.n) % 2 == 1}' } }
  other: { consumes: [{ types: [Row], where: 'false' }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": true}' } }
`;

/** A line of the configuration, up to its engine. */
const JUDGE = '  judge: { consumes: [{ types: [Question] }], publishes: [{ type: Done }], engine: ';

const ROWS = 150;

/** Uses two apps over HTTP on one Postgres. */
describe('experiments of two processes', () => {
  let replicas: Replicas;
  let one: Board;
  let two: Board;

  beforeEach(async () => {
    replicas = new Replicas();
    one = await replicas.start(CONFIG);
    two = await replicas.start(CONFIG);
  });

  afterEach(() => replicas.close());

  const count = async (query: string): Promise<number> => {
    const [row] = await two.app.database.rows<{ count: string }>(`select count(*) as count from ${query}`);
    return Number(row!.count);
  };

  const body = {
    data: { csv: `n,odd\n${Array.from({ length: ROWS }, (_, n) => `${n},${n % 2 === 1}\n`).join('')}`, agent: 'clerk' },
    expected: { column: 'odd' },
    output: 'Done',
    variants: [{ name: 'clerk' }, { name: 'other', agent: 'other' }],
    scorers: [{ name: 'right', kind: 'equals', path: '/odd' }],
  };

  it('try each row once, and continue in the other process when one stops', async () => {
    const experiments = new Experiments(two.http);
    const ids = [await new Experiments(one.http).start(body), await experiments.start(body)];
    await one.close();
    for (const id of ids) {
      const done = await experiments.ended(id);
      expect(done).toMatchObject({ state: 'completed', ended_trials: 2 * ROWS, failed_trials: 0 });
      expect(comparisonOf(done, 'other', 'right')).toMatchObject({ pairs: ROWS, losses: ROWS / 2, verdict: 'worse' });
    }
    expect(await count(`executions`)).toBe(4 * ROWS);
    expect(await count(`correlations`)).toBe(4 * ROWS);
  });

  it('leave the judge to a process whose configuration has it', async () => {
    const server = await replicas.start(`${CONFIG}${JUDGE}{ kind: external } }\n`, { role: SERVER });
    const scorers = [{ name: 'judged', kind: 'judge', agent: 'judge' }];
    const data = { csv: 'n,odd\n0,false\n1,true\n', agent: 'clerk' };
    const experiments = new Experiments(server.http);
    const id = await experiments.start({ ...body, data, scorers });
    await eventually(
      'only the judge is missing',
      async () => (await count(`experiment_trials where state = 'judging'`)) === 4,
    );
    await replicas.start(`${CONFIG}${JUDGE}{ kind: expression, expression: '{"score": 1}' } }\n`);
    const { summary } = await experiments.ended(id);
    for (const { scores } of summary!.variants) expect(scores).toMatchObject([{ count: 2, errors: 0 }]);
  });

  it('continue although the expressions of one row take longer than the other process waits for the lock', async () => {
    await one.publish('List', { l: Array<number>(500).fill(1) }, { correlation: 'list' });
    await one.ended('list');
    // Each of them is stopped after a second.
    const expression = 'input.l.all(a, input.l.all(b, input.l.all(c, input.l.all(d, a + b + c + d > 0.0))))';
    const scorers = Array.from({ length: 8 }, (_, index) => ({ name: `slow ${index}`, kind: 'cel', expression }));
    const done = await new Experiments(one.http).run({
      data: { correlations: ['list'] },
      output: 'Done',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers,
    });
    expect(done).toMatchObject({ state: 'completed', ended_trials: 2, failed_trials: 0 });
    for (const { scores } of done.summary!.variants)
      expect(scores.map(({ errors }) => errors)).toEqual(Array(8).fill(1));
  });
});
