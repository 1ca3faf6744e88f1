// Replays and experiments with agents of another configuration file, over HTTP. Uses the application and its database,
// stopped and started again, and a model server of the test that speaks the wire format of OpenAI-compatible servers.
import type { ProcessesBody } from '../../src/features/processes/dto/processes-body.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Receiver } from '../support/receiver.js';
import { Board } from './board.js';
import { Experiments, meansOf } from './experiment-board.js';
import { operate } from './operations.js';
import { SERVER } from './replica-boards.js';
import { waitingFor } from './waiting-for.js';

interface Listed {
  agent: string;
  replay: string;
  state: string;
  definition: string;
  variant?: string;
}

const TYPES = `
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reading: { schema: { type: object, required: [text], properties: { text: { type: string }, pages: { type: integer } } } }
  Stamp: { schema: { type: object, required: [stamp], properties: { stamp: { type: string } } } }
`;

const agent = (name: string, consumes: string, publishes: string, engine: string): string => `
  ${name}:
    consumes: [{ types: [${consumes}] }]
    publishes: [{ type: ${publishes} }]
    engine: ${engine}
`;

const READER = agent('reader', 'Question', 'Reading', `{ kind: expression, expression: '{"text": payload.text}' }`);
const stamper = (engine = `{ kind: expression, expression: '{"stamp": "old " + payload.text}' }`): string =>
  agent('stamper', 'Reading', 'Stamp', engine);
const filer = (engine = `{ kind: expression, expression: '{"filed": payload.stamp}' }`): string =>
  agent('filer', 'Stamp', 'File', engine);

const VARIANTS = `    variants: { noted: { share: 100%, expression: '{ "filed": payload.stamp }' } }`;

const CONFIG = `${TYPES}agents:${READER}${stamper()}${filer()}${VARIANTS}`;
const NEW_MODULE = `export default async ([{ payload }]) => ({ stamp: 'new ' + payload.text });`;
const UNTIL_ABORTED = `
  export default (_inputs, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)));
`;

describe('a replay with another configuration', () => {
  let folder: ConfigurationFolder;
  let models: ModelServer;
  let receiver: Receiver;
  let board: Board;
  let settings: TestAppOptions['settings'];

  const lacking = async (): Promise<string[]> =>
    (await board.http.get('/metrics').expect(200)).text
      .split('\n')
      .filter((line) => line.startsWith('starling_executions_without_configuration{'));
  const warnings = (): object[] => board.app.logLines.filter(({ level }) => level === 40);
  /** The configurations of the only process. */
  const namesOfProcess = async (): Promise<string[]> => {
    const { body } = await board.http.get('/api/v1/processes').expect(200);
    return (body as ProcessesBody).processes.flatMap(({ replay_configurations }) => Object.keys(replay_configurations));
  };
  const start = async (given: Partial<TestAppOptions> = {}): Promise<void> => {
    board = await Board.start(CONFIG, { folder: folder.path, ...given });
  };
  beforeEach(async () => {
    folder = new ConfigurationFolder();
    models = await ModelServer.start(() => ({ text: '{"stamp": "asked"}' }));
    receiver = await Receiver.start();
    folder.write('other/new.mjs', NEW_MODULE);
    const module = '{ kind: function, module: ./new.mjs }';
    const model = `{ kind: llm, model: local/small, base_url: '${models.url}', instructions: Stamp. }`;
    const remote = `{ kind: http, url: '${receiver.url('/filed')}' }`;
    const files = {
      // Files need not declare the types again.
      module: `agents:${READER}${stamper(module)}${filer()}`,
      model: `${TYPES}agents:${stamper(model)}`,
      remote: `agents:${READER}${stamper()}${filer(remote)}`,
    };
    const replayConfigs = Object.entries(files).map(([name, text]) => ({
      name,
      file: folder.write(`other/${name}.yaml`, text),
    }));
    settings = { replayConfigs };
    await start({ settings });
    await board.publish('Question', { text: 'When?' }, { correlation: 'question-1' });
    await board.ended('question-1');
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    await models?.close();
    await receiver?.close();
    folder?.remove();
  });

  const post = (body: object) =>
    board.http.post('/api/v1/correlations/question-1/replay').send({ mode: 'full', ...body });
  const begin = async (body: object): Promise<string> => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return (answer.body as ReplayBody).correlation_id;
  };
  const replay = async (body: object): Promise<string> => {
    const correlation = await begin(body);
    await board.ended(correlation);
    return correlation;
  };
  const executions = async (correlation_id: string): Promise<Listed[]> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id, limit: 100 }).expect(200);
    return (body as { items: Listed[] }).items;
  };
  const executionOf = async (name: string, correlation: string): Promise<Listed> =>
    (await executions(correlation)).find((execution) => execution.agent === name)!;
  const ran = async (id: string): Promise<string[]> =>
    (await executions(id)).map((execution) => `${execution.agent} ${execution.replay}`).sort();
  const payload = async (type: string, correlation: string): Promise<unknown> =>
    (await board.artifacts(correlation, { type })).map((artifact) => artifact.payload);

  test('takes engines from its file, and everything else from the configuration of the service', async () => {
    const id = await replay({ configuration: 'module' });
    expect(await board.status(id)).toMatchObject({
      state: 'completed',
      origin_kind: 'correlation',
      configuration: 'module',
    });
    expect(await board.status(id)).not.toHaveProperty('overrides');
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'new When?' }]);
    expect(await payload('File', id)).toEqual([{ filed: 'new When?' }]);
    const { definition } = await executionOf('stamper', id);
    const shown = await board.http.get(`/api/v1/definitions/${definition}`).expect(200);
    expect(shown.body).toMatchObject({ agent: 'stamper', options: { engine: { module: './new.mjs' } } });
    const [own, original] = [await executionOf('reader', id), await executionOf('reader', 'question-1')];
    expect(own.definition).toBe(original.definition);

    const plain = await replay({});
    expect(await payload('Stamp', plain)).toEqual([{ stamp: 'old When?' }]);
    expect(await board.status(plain)).not.toHaveProperty('configuration');
  });

  test('leaves an agent the timeout of the service if its file names none', async () => {
    await board.close();
    folder.write('other/hanging.mjs', UNTIL_ABORTED);
    const hanging = stamper('{ kind: function, module: ./hanging.mjs }');
    const file = folder.write('other/hanging.yaml', `agents:${hanging}`);
    const config = `${TYPES}agents:${READER}${stamper()}    timeout: 1s\n    retry: { attempts: 1 }\n`;
    const replayConfigs = [{ name: 'hanging', file }];
    board = await Board.start(config, { folder: folder.path, settings: { replayConfigs } });
    const id = await replay({ configuration: 'hanging' });
    expect(await payload('WorkflowError', id)).toEqual([
      expect.objectContaining({
        failed_agent: 'stamper',
        error_type: 'timeout',
        error_message: 'no answer within 1 s',
      }),
    ]);
  });

  test('is named by the agents that it has', async () => {
    const { body } = await board.http.get('/api/v1/agents').expect(200);
    const { agents } = body as { agents: { name: string; definition: string; configurations?: string[] }[] };
    const shown = agents.map(({ name, configurations }) => [name, configurations]);
    expect(shown).toEqual([
      ['reader', ['module', 'remote']],
      ['stamper', ['module', 'model', 'remote']],
      ['filer', ['module', 'remote']],
    ]);
    // The filer ran with a variant.
    for (const { name, definition } of agents.filter((agent) => agent.name !== 'filer'))
      expect(definition).toBe((await executionOf(name, 'question-1')).definition);
  });

  test('from the record runs the agents that differ in its file, and those behind them', async () => {
    const id = await replay({ mode: 'recorded', configuration: 'module' });
    expect(await ran(id)).toEqual(['filer run', 'reader recorded', 'stamper run']);
    expect(await payload('File', id)).toEqual([{ filed: 'new When?' }]);
  });

  test('from the record runs an agent that differs in its file, also if its variants there are the same', async () => {
    await board.close();
    const changed = filer(`{ kind: expression, expression: '{"filed": "again " + payload.stamp}' }`);
    const file = folder.write('other/copy.yaml', `agents:${READER}${stamper()}${changed}${VARIANTS}`);
    await start({ settings: { replayConfigs: [{ name: 'copy', file }] } });
    expect(await executionOf('filer', 'question-1')).toMatchObject({ variant: 'noted' });
    const id = await replay({ mode: 'recorded', configuration: 'copy' });
    expect(await ran(id)).toEqual(['filer run', 'reader recorded', 'stamper recorded']);
    expect(await payload('File', id)).toEqual([{ filed: 'again old When?' }]);
  });

  test('from the record leaves out agents that differ only in options that it does not take from its file', async () => {
    await board.close();
    const described = (agents: string): string => `${agents}    description: Ours.\n    concurrency: 2\n`;
    const file = folder.write('other/bare.yaml', `agents:${READER}${stamper('{ kind: function, module: ./new.mjs }')}`);
    const config = `${TYPES}agents:${described(READER)}${described(stamper())}`;
    const replayConfigs = [{ name: 'bare', file }];
    board = await Board.start(config, { folder: folder.path, settings: { replayConfigs } });
    await board.publish('Question', { text: 'When?' }, { correlation: 'question-2' });
    await board.ended('question-2');
    const request = { mode: 'recorded', configuration: 'bare' };
    const { body } = await board.http.post('/api/v1/correlations/question-2/replay').send(request).expect(200);
    const { correlation_id: id } = body as ReplayBody;
    await board.ended(id);
    expect(await ran(id)).toEqual(['reader recorded', 'stamper run']);
    const { definition } = await executionOf('stamper', id);
    const shown = await board.http.get(`/api/v1/definitions/${definition}`).expect(200);
    expect(shown.body).toMatchObject({
      options: { description: 'Ours.', concurrency: 2, engine: { kind: 'function', module: './new.mjs' } },
    });
  });

  test('keeps the variants of the agents that do not differ in its file', async () => {
    for (const [configuration, variant] of [
      [undefined, 'noted'],
      ['module', 'noted'],
      ['model', 'noted'],
      ['remote', undefined],
    ]) {
      const execution = await executionOf('filer', await replay({ configuration }));
      expect([configuration, execution.variant]).toEqual([configuration, variant]);
    }
  });

  test('may have overrides of an agent of its file', async () => {
    const overrides = { stamper: { instructions: 'Stamp it twice.' } };
    const id = await replay({ configuration: 'model', overrides });
    expect(await board.status(id)).toMatchObject({ configuration: 'model', overrides });
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'asked' }]);
    expect(models.requests.map(({ text }) => text)).toEqual([expect.stringContaining('Stamp it twice.')]);
    const wrong = await post({ configuration: 'model', overrides: { stamper: { expression: '{}' } } });
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        detail: 'overrides.stamper.expression: is an option of expression agents, but stamper has the engine llm',
      },
    ]);
  });

  test('in shadow runs no agent that has effects in its file, and asks its models', async () => {
    const id = await replay({ mode: 'shadow', configuration: 'remote' });
    expect(receiver.received).toEqual([]);
    expect(await ran(id)).toEqual(['filer unanswered', 'reader recorded', 'stamper recorded']);
    expect(await payload('WorkflowError', id)).toEqual([
      expect.objectContaining({
        failed_agent: 'filer',
        error_type: 'shadow',
        error_message: expect.stringContaining('it is an http agent') as string,
      }),
    ]);
    const asked = await replay({ mode: 'shadow', configuration: 'model' });
    expect(await payload('File', asked)).toEqual([{ filed: 'asked' }]);
    expect(models.requests).toHaveLength(1);
  });

  test('waits for a process that was given its file, as it was when the replay began', async () => {
    await board.close();
    await start({ settings, role: SERVER });
    const id = await begin({ configuration: 'module' });
    await board.close();
    const changed = folder.write(
      'changed/module.yaml',
      `agents:${stamper(`{ kind: expression, expression: '{"stamp": "changed"}' }`)}`,
    );
    for (const replayConfigs of [[], [{ name: 'module', file: changed }]]) {
      await start({ settings: { replayConfigs } });
      // A later one would be claimed after it.
      expect(await board.status(await replay({}))).toMatchObject({ state: 'completed' });
      const { body } = await board.http.get(`/api/v1/correlations/${id}/waiting`).expect(200);
      expect(body).toMatchObject({ state: 'active', items: [{ agent: 'reader', kind: 'no_configuration' }] });
      expect(await lacking()).toEqual([
        'starling_executions_without_configuration{agent="reader",configuration="module"} 1',
      ]);
      expect(warnings()).toMatchObject([{ configurations: { module: { executions: 1 } } }]);
      expect(await namesOfProcess()).toEqual(replayConfigs.map(({ name }) => name));
      await board.close();
    }
    await start({ settings });
    expect(warnings()).toEqual([]);
    expect(await namesOfProcess()).toEqual(['module', 'model', 'remote']);
    expect(await board.ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'new When?' }]);
    expect(await lacking()).toEqual([]);
  });

  test('takes no place of live work while no process was given its file', async () => {
    await board.close();
    await start({ settings, role: SERVER });
    const ids = [];
    for (let times = 0; times < 3; times += 1) ids.push(await begin({ configuration: 'module' }));
    await board.close();
    await start({ settings: { maxPendingExecutions: 1 } });
    const depth = async (): Promise<string | undefined> =>
      (await board.http.get('/metrics?name=starling_queue_depth')).text.split('\n').at(-1);
    expect(await depth()).toBe('starling_queue_depth 0');
    const [cancelled, failed, left] = ids;
    await board.http.post(`/api/v1/correlations/${cancelled!}/cancel`).expect(200);
    await operate(board.http, 'fail', { correlation_id: failed! });
    expect(await board.status(failed!)).toMatchObject({ state: 'failed' });
    // None of them was counted among those that wait for a place.
    expect(await depth()).toBe('starling_queue_depth 0');
    expect(await waitingFor(board, 'slot')).toEqual({ count: 0, listed: [] });
    await board.http.post('/api/v1/agents/reader/pause').expect(200);
    const live = await board.publish('Question', { text: 'Now?' });
    // The count may be a moment old.
    await eventually('the live one is counted', async () => (await waitingFor(board, 'resume')).count > 0);
    expect(await waitingFor(board, 'resume')).toEqual({ count: 1, listed: [live] });
    expect(await lacking()).toEqual([
      'starling_executions_without_configuration{agent="reader",configuration="module"} 1',
    ]);
    await board.http.post('/api/v1/agents/reader/resume').expect(200);
    expect(await board.ended(live)).toMatchObject({ state: 'completed', error_count: 0 });
    await board.close();
    await start({ settings });
    expect(await board.ended(left!)).toMatchObject({ state: 'completed', error_count: 0 });
  });

  test('is refused unless a request has the name alone of one that was given, and stores nothing', async () => {
    const rows = () => board.app.database.rows('select count(*) as count from correlations');
    const before = await rows();
    const RULE =
      'configuration: must be the name of a configuration that the operator gave at the start; a request cannot have the configuration itself';
    const unknown = (name: string): string =>
      `configuration: must be module, model or remote, which the operator gave at the start (got "${name}")`;
    for (const [configuration, detail] of [
      ['candidate', unknown('candidate')],
      ['__proto__', unknown('__proto__')],
      ['', unknown('')],
      [{ agents: {} }, RULE],
      [['module'], RULE],
      [null, RULE],
      [1, RULE],
    ] as const) {
      const answer = await post({ configuration });
      expect([configuration, answer.status, answer.body]).toEqual([configuration, 400, { detail }]);
    }
    expect(await rows()).toEqual(before);
    await board.close();
    await start();
    const none = await post({ configuration: 'module' });
    expect([none.status, none.body]).toEqual([
      400,
      { detail: 'configuration: the operator gave no configuration for replays (setting replay_config)' },
    ]);
  });

  test('is one of the variants of an experiment', async () => {
    const experiments = new Experiments(board.http);
    const request = {
      data: { correlations: ['question-1'] },
      output: 'Stamp',
      variants: [{ name: 'now' }, { name: 'new', configuration: 'module' }],
      scorers: [{ name: 'is new', kind: 'cel', expression: 'output.stamp.startsWith("new")' }],
    };
    const ended = await experiments.run(request);
    expect(ended.definition.variants).toEqual(request.variants);
    expect(meansOf(ended, 'is new')).toEqual([0, 1]);
    const ofCsv = await experiments.run({ ...request, data: { csv: 'text\nLater\n', agent: 'stamper' } });
    expect(meansOf(ofCsv, 'is new')).toEqual([0, 1]);
    for (const [configuration, detail] of [
      ['candidate', /^variants\[1\]\.configuration: must be module, model or remote, /],
      [{ agents: {} }, /^variants\[1\]\.configuration: must be the name of a configuration /],
    ] as const) {
      const variants = [{ name: 'now' }, { name: 'new', configuration }];
      const answer = await experiments.post({ ...request, variants });
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([400, expect.stringMatching(detail)]);
    }
    const inShadow = await experiments.post({
      ...request,
      mode: 'shadow',
      data: { csv: 'stamp\nLater\n', agent: 'filer' },
      output: 'File',
      variants: [{ name: 'now' }, { name: 'remote', configuration: 'remote' }],
    });
    expect([inShadow.status, inShadow.body]).toEqual([
      400,
      {
        detail:
          'variants[1].configuration: filer does not run with mode shadow, because it is an http agent there; use another mode',
      },
    ]);
  });

  test('in an experiment holds up no row that cannot be tried, and the experiment says what the others wait for', async () => {
    const ofRows = (...rows: string[]) => ({
      data: { csv: ['text,pages', ...rows, ''].join('\n'), agent: 'stamper' },
      output: 'Stamp',
      variants: [{ name: 'now' }, { name: 'new', configuration: 'module' }],
      scorers: [{ name: 'is new', kind: 'cel', expression: 'output.stamp.startsWith("new")' }],
    });
    await board.close();
    await start({ settings, role: SERVER });
    const experiments = (): Experiments => new Experiments(board.http);
    const wrong = await experiments().start(ofRows('Later,two'));
    const mixed = await experiments().start(ofRows('Later,two', 'Later,2'));
    await board.close();
    await start();

    expect(await experiments().ended(wrong)).toMatchObject({ state: 'completed', ended_trials: 2, failed_trials: 2 });
    await eventually('only one trial waits', async () => (await experiments().get(mixed)).ended_trials === 3);
    expect(await experiments().get(mixed)).toMatchObject({
      state: 'running',
      failed_trials: 2,
      waiting_for_configurations: ['module'],
    });
    const [row] = await experiments().rows(mixed);
    expect(row!.trials.map(({ error }) => error)).toEqual(Array(2).fill('column pages: "two" is not a valid integer'));
    await board.close();
    await start({ settings });
    const ended = await experiments().ended(mixed);
    expect(ended).toMatchObject({ state: 'completed', ended_trials: 4, failed_trials: 2 });
    expect(meansOf(ended, 'is new')).toEqual([0, 1]);
  });

  test('in an experiment with mode shadow says that a row of a CSV has no record', async () => {
    const experiments = new Experiments(board.http);
    const { experiment_id } = await experiments.run({
      data: { csv: 'text\nLater\n', agent: 'stamper' },
      mode: 'shadow',
      output: 'File',
      variants: [{ name: 'now' }, { name: 'remote', configuration: 'remote' }],
      scorers: [{ name: 'latency', kind: 'latency' }],
    });
    const [row] = await experiments.rows(experiment_id);
    expect(row!.trials.map(({ output, error }) => output ?? error)).toEqual([
      '{"filed":"old Later"}',
      'no agent published an artifact of the type File: filer failed: filer does not run in a shadow replay, because it is an http agent, and a row of a CSV has no record to answer from; give the experiment the mode full, or correlations, artifacts or a batch instead of the CSV',
    ]);
    expect(receiver.received).toEqual([]);
  });
});
