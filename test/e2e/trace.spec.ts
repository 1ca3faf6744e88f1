import type {
  TraceBody,
  TracedArtifactBody,
  TracedExecutionBody,
} from '../../src/features/correlations/dto/trace-body.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  splitter:
    consumes: [{ types: [Start] }]
    publishes: [{ type: Left }, { type: Right }]
    engine: { kind: expression, expression: '{"Left": {"n": 1}, "Right": {"n": 2}}' }
  flaky:
    consumes: [{ types: [Unrelated] }, { types: [Left] }]
    publishes: [{ type: LeftDone }]
    engine: { kind: function, module: ./flaky.js }
    retry: { attempts: 3, delay: 1m }
  steady:
    consumes: [{ types: [Right] }]
    publishes: [{ type: RightDone }]
    engine: { kind: expression, expression: '{"n": 2}' }
  joiner:
    consumes: [{ types: [LeftDone, RightDone] }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: '{"n": 3}' }
  broken:
    consumes: [{ types: [Joined] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./broken.js }
    retry: { attempts: 2, delay: 1m }
  pack:
    consumes: [{ types: [Item], batch: { size: 2 } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"n": 4}' }
  spreader:
    consumes: [{ types: [Spread] }]
    publishes: [{ type: Part }]
    engine: { kind: expression, expression: 'payload.list.map(n, {"n": n})' }
  taker:
    consumes: [{ types: [Part], where: payload.n < 3.0 }]
    publishes: [{ type: Taken }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  slow:
    consumes: [{ types: [Slow] }]
    publishes: [{ type: Never }]
    timeout: 1h
    engine: { kind: function, module: ./slow.js }
`;

const FILES = {
  'flaky.js': `export default async (inputs, { attempt }) => { if (attempt === 1) throw new TypeError('not yet'); return { n: attempt }; };`,
  'broken.js': `export default async () => { throw new Error('it is broken'); };`,
  'slow.js': `export default (inputs, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop'))));`,
};

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NO_ERROR = { error_type: null, error_message: null };
const UNASSIGNED = { assignee: null, claimed_by: null, lease_until: null, due_at: null };
const time = expect.stringMatching(TIME) as string;

/** Uses the whole app over HTTP on a database, with function agents. The clock is faked. */
describe('the trace of a correlation', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: FILES, settings: { shutdownGraceMs: 0 } });
  });

  afterAll(() => board.close());

  const trace = async (correlation: string, query: object = {}): Promise<TraceBody> =>
    (await board.http.get(`/api/v1/correlations/${correlation}/trace`).query(query).expect(200)).body as TraceBody;

  const executionOf = async (agent: string, correlation: string): Promise<TracedExecutionBody> => {
    const execution = (await trace(correlation)).executions.find((one) => one.agent === agent);
    if (!execution) throw new Error(`${agent} has no execution in ${correlation}`);
    return execution;
  };

  it('shows a cascade with a retry, a join and a failure', async () => {
    const correlation = await board.publish('Start', {});
    await eventually(
      'the first attempt has failed',
      async () => (await executionOf('flaky', correlation)).next_attempt_at !== null,
    );
    await eventually('the other branch has reached the join', async () =>
      (await board.types(correlation)).includes('RightDone'),
    );
    const waiting = await executionOf('flaky', correlation);
    expect(waiting).toMatchObject({ state: 'pending', ended_at: null, error_type: null, outputs: [] });
    const failed = {
      attempt: 1,
      round: 0,
      started_at: time,
      ended_at: time,
      error_type: 'TypeError',
      error_message: 'not yet',
    };
    expect(waiting.attempts).toEqual([failed]);
    expect((await trace(correlation)).state).toBe('active');
    clock.advance(120_000);
    await eventually(
      'the last agent has failed once',
      async () => (await executionOf('broken', correlation)).next_attempt_at !== null,
    );
    clock.advance(120_000);
    await board.ended(correlation);

    const { artifacts, executions, ...about } = await trace(correlation);
    expect(about).toEqual({
      correlation_id: correlation,
      state: 'completed',
      generation: 1,
      started_at: '2026-11-20T10:00:00.000Z',
      last_activity_at: time,
      settled_at: about.last_activity_at,
      artifact_count: 7,
      error_count: 1,
      truncated: false,
    });
    expect(artifacts.map(({ id }) => id)).toEqual((await board.artifacts(correlation)).map(({ id }) => id));

    const artifact = (type: string): TracedArtifactBody => artifacts.find((one) => one.type === type)!;
    const execution = (agent: string): TracedExecutionBody => executions.find((one) => one.agent === agent)!;
    expect(executions).toHaveLength(5);
    const edges = {
      splitter: [['Start'], ['Left', 'Right']],
      flaky: [['Left'], ['LeftDone']],
      steady: [['Right'], ['RightDone']],
      joiner: [['LeftDone', 'RightDone'], ['Joined']],
      broken: [['Joined'], ['WorkflowError']],
    };
    for (const [agent, [inputs, outputs]] of Object.entries(edges)) {
      const { id, ...found } = execution(agent);
      expect([agent, found.inputs, found.outputs]).toEqual([
        agent,
        inputs!.map((type) => artifact(type).id),
        outputs!.map((type) => artifact(type).id),
      ]);
      for (const type of inputs!) expect([type, artifact(type).input_of]).toEqual([type, [id]]);
      for (const type of outputs!) expect(artifact(type)).toMatchObject({ execution_id: id, produced_by: agent });
    }
    expect(artifact('Start')).toMatchObject({
      execution_id: null,
      produced_by: 'external',
      created_at: '2026-11-20T10:00:00.000Z',
    });

    const { id, ended_at, ...retried } = execution('flaky');
    expect(retried).toEqual({
      agent: 'flaky',
      subscription: 1,
      invoked: false,
      correlation_id: correlation,
      generation: 1,
      state: 'completed',
      created_at: time,
      started_at: waiting.started_at,
      next_attempt_at: null,
      attempts: [waiting.attempts[0], { attempt: 2, round: 0, started_at: time, ended_at, ...NO_ERROR }],
      ...NO_ERROR,
      ...UNASSIGNED,
      inputs: [artifact('Left').id],
      outputs: [artifact('LeftDone').id],
      truncated: false,
    });
    expect(id).toBe(waiting.id);
    // A minute, give or take a fifth.
    expect(Date.parse(waiting.next_attempt_at!) - Date.parse(waiting.attempts[0]!.ended_at!)).toBeGreaterThanOrEqual(
      48_000,
    );

    const error = { error_type: 'Error', error_message: 'it is broken' };
    expect(execution('broken')).toMatchObject({
      state: 'failed',
      ...error,
      attempts: [
        { attempt: 1, ...error },
        { attempt: 2, ...error },
      ],
    });
  });

  it('groups the attempts of an execution that was retried by hand by their rounds', async () => {
    const correlation = await board.publish('Joined', {});
    const failsForGood = async (): Promise<void> => {
      await eventually(
        'the agent has failed once',
        async () => (await executionOf('broken', correlation)).next_attempt_at !== null,
      );
      clock.advance(120_000);
      await board.ended(correlation);
    };
    await failsForGood();
    await board.http.post(`/api/v1/executions/${(await executionOf('broken', correlation)).id}/retry`).expect(200);
    await failsForGood();
    const { generation, attempts } = { ...(await trace(correlation)), ...(await executionOf('broken', correlation)) };
    expect([generation, attempts.map(({ round, attempt }) => [round, attempt])]).toEqual([
      2,
      [
        [0, 1],
        [0, 2],
        [1, 1],
        [1, 2],
      ],
    ]);
    expect(new Set(attempts.map(({ error_message }) => error_message))).toEqual(new Set(['it is broken']));
  });

  it('shows executions of other correlations that consumed an artifact of this one', async () => {
    const first = await board.publish('Item', {});
    const second = await board.publish('Item', {});
    await board.ended(second);
    const { artifacts, executions } = await trace(first);
    expect(artifacts.map(({ type, input_of }) => [type, input_of])).toEqual([['Item', [executions[0]!.id]]]);
    expect(executions).toMatchObject([{ agent: 'pack', correlation_id: second, state: 'completed' }]);
    const others = await trace(second);
    expect(others.executions).toEqual(executions);
    expect(executions[0]!.inputs).toEqual([artifacts[0]!.id, others.artifacts[0]!.id]);
    expect(executions[0]!.outputs).toEqual([others.artifacts[1]!.id]);
  });

  it('is split into pages, which together are the whole', async () => {
    const correlation = await board.publish('Spread', { list: Array.from({ length: 150 }, (_, n) => n) });
    await board.ended(correlation);
    const whole = await trace(correlation);
    expect([whole.artifacts.length, whole.artifact_count, whole.truncated]).toEqual([154, 154, false]);
    const [spreader] = whole.executions;
    expect(spreader).toMatchObject({ agent: 'spreader', truncated: true });
    expect(spreader!.outputs).toEqual(whole.artifacts.slice(1, 101).map(({ id }) => id));
    expect(whole.executions.filter(({ agent }) => agent === 'taker').map(({ truncated }) => truncated)).toEqual([
      false,
      false,
      false,
    ]);

    const artifacts: TracedArtifactBody[] = [];
    const executions = new Map<string, TracedExecutionBody>();
    for (let [page, isLast] = [0, false]; !isLast; page += 1) {
      const part = await trace(correlation, { limit: 60, after: artifacts.at(-1)?.id });
      artifacts.push(...part.artifacts);
      for (const execution of part.executions) executions.set(execution.id, execution);
      isLast = !part.truncated;
      expect([page, part.artifacts.length]).toEqual([page, [60, 60, 34][page]]);
    }
    expect(artifacts).toEqual(whole.artifacts);
    expect([...executions.values()]).toEqual(whole.executions);
  });

  it('shows running attempts, and those that a cancelled execution had started', async () => {
    const [slow, retrying] = [await board.publish('Slow', {}), await board.publish('Left', {})];
    await eventually('the agent runs', async () => (await executionOf('slow', slow)).state === 'running');
    expect((await executionOf('slow', slow)).attempts).toEqual([
      { attempt: 1, round: 0, started_at: time, ended_at: null, ...NO_ERROR },
    ]);
    await eventually(
      'the first attempt has failed',
      async () => (await executionOf('flaky', retrying)).next_attempt_at !== null,
    );
    for (const correlation of [slow, retrying])
      await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    const [stopped, dropped] = [await executionOf('slow', slow), await executionOf('flaky', retrying)];
    expect(stopped).toMatchObject({
      state: 'cancelled',
      attempts: [{ attempt: 1, ended_at: stopped.ended_at, ...NO_ERROR }],
    });
    expect(dropped).toMatchObject({
      state: 'cancelled',
      next_attempt_at: null,
      attempts: [{ attempt: 1, error_message: 'not yet' }],
    });
    expect(dropped.attempts).toHaveLength(1);
  });

  it('shows an execution whose agent a caller named', async () => {
    const run = await board.http
      .post('/run/flock')
      .send({ agent_name: 'steady', inputs: { n: 1 } })
      .expect(200);
    const { artifacts, executions } = await trace((run.body as { run_id: string }).run_id);
    expect(executions).toMatchObject([{ agent: 'steady', invoked: true, subscription: 0 }]);
    expect(artifacts.map(({ type, input_of }) => [type, input_of])).toEqual([
      ['Right', [executions[0]!.id]],
      ['RightDone', []],
    ]);
  });

  it('refuses unknown parameters', async () => {
    await board.http.get('/api/v1/correlations/nope/trace').expect(404, { detail: 'Correlation not found: nope' });
    await board.http
      .get('/api/v1/correlations/nope/trace?after=42')
      .expect(400, { detail: 'after: must be the id of an artifact (got "42")' });
    await board.http
      .get('/api/v1/correlations/nope/trace?limit=501')
      .expect(400, { detail: 'limit: must be a whole number from 1 to 500' });
  });
});
