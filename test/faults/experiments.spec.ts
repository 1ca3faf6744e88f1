import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import { variantOf } from '../e2e/experiment-board.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type ModelRequest, ModelServer, type Used } from '../support/model-server.js';
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

async function countOf(database: TestDatabase, query: string): Promise<number> {
  const [row] = await database.rows<{ count: number | string }>(`select count(*) as count from ${query}`);
  return Number(row!.count);
}

/** Runs processes of the built program, which are killed in turn with SIGKILL while they try the rows of an experiment. */
it('an experiment continues after each crash, with each row once and the right totals', async () => {
  const folder = new ConfigurationFolder();
  const database = await databaseOf(folder.path);
  const file = folder.write('starling.yaml', CONFIG);
  const start = (): Promise<Service> =>
    Service.start(['--config', file, '--database-url', database.url, '--lease', '1s', '--log-level', 'warn']);
  const count = (query: string): Promise<number> => countOf(database, query);

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

const QUESTIONS = 40;

const withModels = (url: string): string => `
models: { local/small: { input_per_million: 1000, output_per_million: 2000 } }
types:
  Question: { schema: { type: object, required: [n], properties: { n: { type: integer } } } }
  Reply: { schema: { type: object, required: [by], properties: { by: { type: string } } } }
  Case: { schema: { type: object } }
  Verdict: { schema: { type: object, required: [score], properties: { score: { type: number } } } }
agents:
  reader: { consumes: [{ types: [Question] }], publishes: [{ type: Reading }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  responder: { consumes: [{ types: [Reading] }], publishes: [{ type: Reply }], engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Answer at length. } }
  judge: { consumes: [{ types: [Case] }], publishes: [{ type: Verdict }], engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Judge. } }
`;

/** Its model is dearer. */
const candidate = (url: string): string => `
models: { local/small: { input_per_million: 10000, output_per_million: 20000 } }
agents:
  responder: { consumes: [{ types: [Reading] }], publishes: [{ type: Reply }], engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Answer in verse. } }
`;

const by = ({ text }: ModelRequest): string => /at length|in one word|in verse|Judge/.exec(text)![0];
const numberIn = ({ text }: ModelRequest): number => Number(/\\"n\\":\s*(\d+)/.exec(text)![1]);
/** Depends on the row and on who asks, so that a row that counts twice, or for another variant, changes a total. */
const usedBy = (who: string, n: number): Used => ({
  input: { 'at length': 1_000, 'in one word': 200, 'in verse': 500, Judge: 50 }[who]! + n,
  output: 10 + n,
});
const usageOf = (who: readonly string[]): { input_tokens: number; output_tokens: number } => {
  const uses = who.flatMap((each) => Array.from({ length: QUESTIONS }, (_, n) => usedBy(each, n)));
  return {
    input_tokens: uses.reduce((sum, { input }) => sum + input, 0),
    output_tokens: uses.reduce((sum, { output }) => sum + output, 0),
  };
};
const costOf = (who: readonly string[], factor = 1): number => {
  const { input_tokens, output_tokens } = usageOf(who);
  return (factor * (input_tokens * 1_000 + output_tokens * 2_000)) / 1_000_000;
};

/** The same for replays of recorded questions that ask models, with an agent of another configuration. */
it('an experiment with models continues after each crash, with the tokens and the cost of each trial once', async () => {
  const folder = new ConfigurationFolder();
  const database = await databaseOf(folder.path);
  const models = await ModelServer.start((request) => ({
    text: by(request) === 'Judge' ? '{"score": 0.5}' : JSON.stringify({ by: by(request) }),
  }));
  models.used = (request) => usedBy(by(request), numberIn(request));
  const file = folder.write('starling.yaml', withModels(models.url));
  const other = folder.write('candidate.yaml', candidate(models.url));
  const start = (): Promise<Service> =>
    Service.start([
      ...['--config', file, '--replay-config', `candidate=${other}`, '--database-url', database.url],
      // An attempt that loses its lease on a busy machine asks again, and both answers count.
      ...['--lease', '3s', '--log-level', 'warn'],
    ]);
  const count = (query: string): Promise<number> => countOf(database, query);

  const services: Service[] = [];
  try {
    while (services.length < PROCESSES) services.push(await start());
    const post = async (path: string, body: object): Promise<unknown> => {
      const response = await fetch(`${services[0]!.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      return response.json();
    };
    await Promise.all(
      Array.from({ length: QUESTIONS }, (_, n) => post('artifacts/sync', { type: 'Question', payload: { n } })),
    );
    models.requests.length = 0;
    const { experiment_id: id } = (await post('experiments', {
      data: { artifacts: { type: 'Question' } },
      output: 'Reply',
      variants: [
        { name: 'now' },
        { name: 'short', overrides: { responder: { instructions: 'Answer in one word.' } } },
        { name: 'candidate', configuration: 'candidate' },
      ],
      scorers: [
        { name: 'cost', kind: 'cost' },
        { name: 'verse', kind: 'cel', expression: "output.by == 'in verse'" },
        { name: 'judged', kind: 'judge', agent: 'judge' },
      ],
    })) as ExperimentBody;
    const trials = 3 * QUESTIONS;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await eventually(
        'some trials have ended',
        async () => (await count(`experiment_trials where state = 'ended'`)) > (kill * trials) / (KILLS + 2),
      );
      const killed = kill % PROCESSES;
      await services[killed]!.kill();
      services[killed] = await start();
    }
    let done = await services[0]!.get<ExperimentBody>(`/api/v1/experiments/${id}`);
    await eventually(
      'the experiment has ended',
      async () => {
        done = await services[0]!.get<ExperimentBody>(`/api/v1/experiments/${id}`);
        return done.state !== 'running';
      },
      300_000,
    );
    expect(done).toMatchObject({ state: 'completed', rows: QUESTIONS, ended_trials: trials, failed_trials: 0 });
    // The unchanged agents answer from the record, and only the judge asks a model for them.
    const asked = { now: [], short: ['in one word'], candidate: ['in verse'] };
    const costs = { now: 0, short: costOf(['in one word']), candidate: costOf(['in verse'], 10) };
    for (const [name, who] of Object.entries(asked)) {
      const { usage, scores } = variantOf(done, name);
      const cost = costs[name as keyof typeof costs];
      if (who.length === 0) expect([name, usage]).toEqual([name, undefined]);
      else expect(usage).toMatchObject({ ...usageOf(who), cost: expect.closeTo(cost, 9) as number });
      expect(scores.map(({ scorer, count: n }) => [scorer, n])).toEqual(
        ['cost', 'verse', 'judged'].map((scorer) => [scorer, QUESTIONS]),
      );
      expect(scores[0]!.mean).toBeCloseTo(cost / QUESTIONS, 9);
      expect(scores.slice(1).map(({ mean }) => mean)).toEqual([name === 'candidate' ? 1 : 0, 0.5]);
    }
    expect(done.usage).toMatchObject({
      ...usageOf(['in one word', 'in verse', 'Judge', 'Judge', 'Judge']),
      cost: expect.closeTo(costs.short + costs.candidate + 3 * costOf(['Judge']), 9) as number,
    });
    // Each trial ran once: only what was asked when a process was killed is asked again.
    const ran = (agent: string, replay: string): Promise<number> =>
      count(`executions where agent = '${agent}' and replay = ${replay === 'run' ? 1 : 2}`);
    expect([await ran('reader', 'recorded'), await ran('reader', 'run')]).toEqual([trials, 0]);
    expect([await ran('responder', 'recorded'), await ran('responder', 'run')]).toEqual([QUESTIONS, 2 * QUESTIONS]);
    expect(await ran('judge', 'run')).toBe(trials);
    const times = new Map<string, number>();
    for (const request of models.requests.filter((each) => by(each) !== 'Judge')) {
      const key = `${by(request)} ${numberIn(request)}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
    expect([...times.keys()].filter((key) => key.startsWith('at length'))).toEqual([]);
    expect(times.size).toBe(2 * QUESTIONS);
  } finally {
    for (const service of services) await service.kill();
    await models.close();
    await database.drop();
    folder.remove();
  }
}, 900_000);
