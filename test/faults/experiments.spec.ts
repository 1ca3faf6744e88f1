import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
types:
  Row: { schema: { type: object, required: [n], properties: { n: { type: integer } } } }
  Case: { schema: { type: object } }
agents:
  clerk: { consumes: [{ types: [Row] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": int(payload.n) % 2 == 1}' } }
  other: { consumes: [{ types: [Row], where: 'false' }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"odd": true}' } }
  judge: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: expression, expression: '{"score": payload.output.odd}' } }
`;

const ROWS = 300;
const TRIALS = 2 * ROWS;
const KILLS = 3;
/** Only one process can use a SQLite file. */
const PROCESSES = TEST_DATABASE === 'postgres' ? 2 : 1;

/** Runs processes of the built program, which are killed in turn with SIGKILL while they try the rows of an experiment. */
it('an experiment continues after each crash, with each row once and the right totals', async () => {
  const folder = new ConfigurationFolder();
  const database = await databaseOf(folder.path);
  const file = folder.write('starling.yaml', CONFIG);
  const start = (): Promise<Service> =>
    Service.start(['--config', file, '--database-url', database.url, '--lease', '1s', '--log-level', 'warn']);
  const count = async (query: string): Promise<number> => {
    const [row] = await database.rows<{ count: number | string }>(`select count(*) as count from ${query}`);
    return Number(row!.count);
  };

  const services: Service[] = [];
  try {
    while (services.length < PROCESSES) services.push(await start());
    const response = await fetch(`${services[0]!.url}/api/v1/experiments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        data: {
          csv: `n,odd\n${Array.from({ length: ROWS }, (_, n) => `${n},${n % 2 === 1}\n`).join('')}`,
          agent: 'clerk',
        },
        expected: { column: 'odd' },
        output: 'Done',
        variants: [{ name: 'clerk' }, { name: 'other', agent: 'other' }],
        scorers: [
          { name: 'right', kind: 'equals', path: '/odd' },
          { name: 'judged', kind: 'judge', agent: 'judge' },
        ],
      }),
    });
    expect(response.status).toBe(200);
    const { experiment_id: id } = (await response.json()) as ExperimentBody;
    const ended = async (): Promise<number> => count(`experiment_trials where state = 'ended'`);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await eventually('some trials have ended', async () => (await ended()) > (kill * TRIALS) / (KILLS + 2));
      const killed = kill % PROCESSES;
      await services[killed]!.kill();
      // Whatever was committed agrees. One query, because Postgres may still commit what the service has sent.
      const trials = 'select count(*) from experiment_trials';
      const [stored] = await database.rows<Record<string, number | string>>(
        `select ended_trials, (${trials} where state = 'ended') as ended,
          open_trials, (${trials} where state <> 'ended') as open, next_trial, (${trials}) as started from experiments`,
      );
      const { ended_trials, ended: endedOnes, open_trials, open, next_trial, started } = stored!;
      expect([ended_trials, open_trials, next_trial].map(Number)).toEqual([endedOnes, open, started].map(Number));
      services[killed] = await start();
    }
    const [service] = services;
    let done = await service!.get<ExperimentBody>(`/api/v1/experiments/${id}`);
    await eventually(
      'the experiment has ended',
      async () => {
        done = await service!.get<ExperimentBody>(`/api/v1/experiments/${id}`);
        return done.state !== 'running';
      },
      300_000,
    );
    expect(done).toMatchObject({ state: 'completed', ended_trials: TRIALS, failed_trials: 0 });
    expect(
      done.summary!.variants.map(({ trials, scores }) => [trials, ...scores.map(({ count: n, mean }) => [n, mean])]),
    ).toEqual([
      [ROWS, [ROWS, 1], [ROWS, 0.5]],
      [ROWS, [ROWS, 0.5], [ROWS, 1]],
    ]);
    expect(await count(`correlations where origin = '${id}'`)).toBe(TRIALS);
    expect(await count(`executions where agent in ('clerk', 'other')`)).toBe(TRIALS);
    expect(await count(`executions where agent = 'judge'`)).toBe(TRIALS);
    expect(await count(`artifacts where type = 'Done'`)).toBe(TRIALS);
  } finally {
    for (const service of services) await service.kill();
    await database.drop();
    folder.remove();
  }
}, 900_000);
