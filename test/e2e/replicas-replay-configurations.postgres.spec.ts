import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';
import { Experiments, meansOf } from './experiment-board.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const TYPES = `
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reading: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
`;
const READER = `
  reader:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reading }]
    engine: { kind: expression, expression: '{"text": payload.text}' }
`;
const stamper = (engine: string): string => `
  stamper:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Stamp }]
    engine: ${engine}
`;
const CONFIG = `${TYPES}agents:${READER}${stamper(`{ kind: expression, expression: '{"stamp": "old"}' }`)}`;
const CANDIDATE = `agents:${stamper('{ kind: function, module: ./stamp.mjs }')}`;

/** Uses several apps over HTTP on one Postgres, of which some were given another configuration for replays, or none. */
describe('replays with a configuration that only some processes have', () => {
  const folder = new ConfigurationFolder();
  let replicas: Replicas;
  /** Gets the requests, and runs nothing. */
  let server: Board;

  /** Two versions of one configuration differ only in a module. */
  const candidate = (version: string): TestAppOptions['settings'] => {
    folder.write(`${version}/stamp.mjs`, `export default () => ({ stamp: '${version}' });`);
    return { replayConfigs: [{ name: 'candidate', file: folder.write(`${version}/candidate.yaml`, CANDIDATE) }] };
  };
  const start = (settings: TestAppOptions['settings'], role = WORKER): Promise<Board> =>
    replicas.start(CONFIG, { settings, role });

  beforeEach(async () => {
    replicas = new Replicas();
    server = await start(candidate('new'), SERVER);
    await start({});
    await start(candidate('newer'));
    await server.publish('Question', { text: 'When?' }, { correlation: 'question' });
    await server.ended('question');
  });
  afterEach(() => replicas.close());
  afterAll(() => folder.remove());

  const post = (board: Board, body: object) =>
    board.http.post('/api/v1/correlations/question/replay').send({ mode: 'full', ...body });
  const begin = async (body: object): Promise<string> => {
    const answer = await post(server, body);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return (answer.body as ReplayBody).correlation_id;
  };
  const payloads = async (id: string, type: string): Promise<unknown[]> =>
    (await server.artifacts(id, { type })).map(({ payload }) => payload);
  const waiting = async (id: string): Promise<unknown[]> => {
    const { body } = await server.http.get(`/api/v1/correlations/${id}/waiting`).expect(200);
    return (body as { items: { kind: string; agent: string }[] }).items.map(({ kind, agent }) => `${agent} ${kind}`);
  };
  /** Replays without a configuration are claimed after the earlier ones, if these can be claimed. */
  const othersRun = async (): Promise<void> => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => begin({})));
    for (const id of ids) expect(await server.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
  };

  it('wait for a process that has it, and end there', async () => {
    const full = await Promise.all(Array.from({ length: 10 }, () => begin({ configuration: 'candidate' })));
    const recorded = await begin({ mode: 'recorded', configuration: 'candidate' });
    const shadow = await begin({ mode: 'shadow', configuration: 'candidate' });
    await othersRun();
    for (const id of full) expect(await waiting(id)).toEqual(['reader no_configuration']);
    for (const id of [recorded, shadow]) expect(await waiting(id)).toEqual(['stamper no_configuration']);
    const [question] = await server.artifacts(full[0]!);
    const { body } = await server.http.get(`/api/v1/artifacts/${question!.id}/explain`).expect(200);
    const { verdicts } = body as { verdicts: { agent: string; detail: string }[] };
    expect(verdicts.flatMap(({ agent, detail }) => (agent === 'reader' ? detail : []))).toEqual([
      'It triggered the agent; the execution waits, since no process has the configuration candidate as it was when the replay began.',
    ]);

    await start(candidate('new'));
    for (const id of [...full, recorded]) {
      expect(await server.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
      expect(await payloads(id, 'Stamp')).toEqual([{ stamp: 'new' }]);
    }
    // A shadow replay runs no function that is not pure, and the record has no answer of this one.
    await server.ended(shadow);
    expect(await payloads(shadow, 'WorkflowError')).toEqual([
      expect.objectContaining({ failed_agent: 'stamper', error_type: 'shadow' }),
    ]);
  });

  it('end in the processes that have it while others take work, too', async () => {
    const having = await start(candidate('new'));
    const ids = await Promise.all(Array.from({ length: 30 }, () => begin({ configuration: 'candidate' })));
    await othersRun();
    for (const id of ids) expect(await server.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
    const stamps = (await Promise.all(ids.map((id) => payloads(id, 'Stamp')))).flat();
    expect(stamps).toEqual(ids.map(() => ({ stamp: 'new' })));

    const interrupted = await begin({ configuration: 'candidate' });
    await having.close();
    await start(candidate('new'));
    expect(await server.ended(interrupted)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await payloads(interrupted, 'Stamp')).toEqual([{ stamp: 'new' }]);
  });

  const csvOf = (rows: number): string => `text\n${Array.from({ length: rows }, (_, row) => `row ${row}\n`).join('')}`;
  const experiment = (rows: number, variants: object[]): object => ({
    data: { csv: csvOf(rows), agent: 'stamper' },
    output: 'Stamp',
    mode: 'full',
    max_workers: 30,
    variants,
    scorers: [{ name: 'is new', kind: 'cel', expression: 'output.stamp == "new"' }],
  });
  const BOTH = [{ name: 'now' }, { name: 'candidate', configuration: 'candidate' }];

  it('as trials that cannot begin do not keep others from being scored', async () => {
    const experiments = new Experiments(server.http);
    const id = await experiments.start(experiment(40, BOTH));
    // The trials of the candidate take all places.
    await eventually('all others that began are scored', async () => (await experiments.get(id)).ended_trials === 30);
    await start(candidate('new'));
    const ended = await experiments.ended(id);
    expect(ended).toMatchObject({ state: 'completed', ended_trials: 80, failed_trials: 0 });
    expect(meansOf(ended, 'is new')).toEqual([0, 1]);
  });

  it('as trials begin while a process that lacks it continues other experiments', async () => {
    const experiments = new Experiments(server.http);
    const plain = [{ name: 'now' }, { name: 'same', overrides: { stamper: { expression: '{"stamp": "same"}' } } }];
    const long = await experiments.start(experiment(2_000, plain));
    await eventually('it runs', async () => (await experiments.get(long)).ended_trials > 0);
    await start(candidate('new'));
    const id = await experiments.start(experiment(20, BOTH));
    const ended = await experiments.ended(id);
    expect(ended).toMatchObject({ state: 'completed', ended_trials: 40, failed_trials: 0 });
    expect(meansOf(ended, 'is new')).toEqual([0, 1]);
    expect(await experiments.get(long)).toMatchObject({ state: 'running' });
    await server.http.post(`/api/v1/experiments/${long}/cancel`).expect(200);
    await experiments.ended(long);
  });

  it('refuse others like them when too many of them wait, and nothing else', async () => {
    server = await start({ ...candidate('new'), maxPendingExecutions: 3 }, SERVER);
    const metric = async (name: string): Promise<string | undefined> =>
      (await server.http.get(`/metrics?name=${name}`)).text.split('\n').at(-1);
    const waitingOnes = await Promise.all([1, 2, 3].map(() => begin({ configuration: 'candidate' })));
    const noneCounts = async (): Promise<boolean> =>
      (await metric('starling_queue_depth')) === 'starling_queue_depth 0';
    await eventually('they are counted separately', noneCounts);
    expect(await metric('starling_executions_without_configuration')).toBe(
      'starling_executions_without_configuration{agent="reader",configuration="candidate"} 3',
    );
    const refused = await post(server, { configuration: 'candidate' });
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      503,
      '5',
      {
        detail:
          '3 executions of replays wait for configurations that no process has, which is the most that this service accepts; start a worker with candidate, or cancel these replays',
      },
    ]);
    const others = [await begin({}), await server.publish('Question', { text: 'Now?' })];
    for (const id of others) expect(await server.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
    await start(candidate('new'));
    for (const id of waitingOnes) expect(await server.ended(id)).toMatchObject({ state: 'completed' });
    await eventually('nothing waits', noneCounts);
    const after = await begin({ configuration: 'candidate' });
    expect(await server.ended(after)).toMatchObject({ state: 'completed', error_count: 0 });
  });

  it('are refused by a process that lacks it, which says whether another one has it', async () => {
    const lacking = await start({}, SERVER);
    const answer = await post(lacking, { configuration: 'candidate' });
    expect([answer.status, answer.body]).toEqual([
      409,
      {
        detail:
          'configuration: the process that got this request was not given candidate, but another one was; send the request to that one, or start all processes with it (setting replay_config)',
      },
    ]);
    const unknown = await post(lacking, { configuration: 'other' });
    expect([unknown.status, unknown.body]).toEqual([
      400,
      { detail: 'configuration: the operator gave no configuration for replays (setting replay_config)' },
    ]);
  });

  it.each(['full', 'recorded'])('as trials of an experiment with mode %s end there as well', async (mode) => {
    const experiments = new Experiments(server.http);
    const request = {
      data: { correlations: Array<string>(1).fill('question') },
      mode,
      output: 'Stamp',
      variants: [{ name: 'now' }, { name: 'candidate', configuration: 'candidate' }],
      scorers: [{ name: 'is new', kind: 'cel', expression: 'output.stamp == "new"' }],
    };
    const id = await experiments.start(request);
    const ofCsv = await experiments.start({
      ...request,
      mode: 'full',
      data: { csv: 'text\nLater\n', agent: 'stamper' },
    });
    for (const each of [id, ofCsv]) {
      let found!: ExperimentBody;
      await eventually('the trial without the configuration has ended', async () => {
        found = await experiments.get(each);
        return found.ended_trials === 1;
      });
      expect(found).toMatchObject({
        state: 'running',
        failed_trials: 0,
        waiting_for_configurations: ['candidate'],
        definition: { variants: request.variants },
      });
    }
    await start(candidate('new'));
    for (const each of [id, ofCsv]) {
      const ended = await experiments.ended(each);
      expect(ended).toMatchObject({ state: 'completed', ended_trials: 2, failed_trials: 0 });
      expect(ended).not.toHaveProperty('waiting_for_configurations');
      expect(meansOf(ended, 'is new')).toEqual([0, 1]);
    }
  });
});
