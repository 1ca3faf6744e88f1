import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, tally } from './board.js';

// Succeeds once the test allows it.
const MENDED = `globalThis.mended ??= new Set();
export default async ([input], { attempt, executionId }) => {
  (globalThis.retriedInvocations ??= []).push({ n: input.payload.n, attempt, executionId });
  if (!globalThis.mended.has(input.payload.n)) throw new Error('broken');
  return { n: input.payload.n };
};`;

const AGENTS = {
  fragile: `{ consumes: [{ types: [Order] }], publishes: [{ type: Made }], engine: { kind: function, module: ./mended.js }, retry: { attempts: 2, delay: 0s } }`,
  next: `{ consumes: [{ types: [Made] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": payload.n}' } }`,
  late: `{ consumes: [{ types: [Hold] }], publishes: [{ type: Held }], engine: { kind: expression, expression: '{}' } }`,
};

const configuration = (agents: (keyof typeof AGENTS)[]): string =>
  `agents:\n${agents.map((name) => `  ${name}: ${AGENTS[name]}\n`).join('')}`;

const shared = globalThis as unknown as {
  mended?: Set<number>;
  retriedInvocations?: { n: number; attempt: number; executionId: string }[];
};
const mend = (n: number): void => void (shared.mended ??= new Set()).add(n);
const invocations = (n: number) => (shared.retriedInvocations ?? []).filter((invocation) => invocation.n === n);

interface Execution {
  id: string;
  state: string;
  round: number;
  attempt: number;
  outputs: { type: string }[];
  errors: { type: string }[];
  attempts: { round: number; attempt: number; error_message: string | null }[];
}

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('an execution that has failed', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;
  let orders = 0;

  const start = async (agents = Object.keys(AGENTS) as (keyof typeof AGENTS)[]): Promise<void> => {
    board = await Board.start(configuration(agents), {
      clock,
      folder: folder.path,
      files: { 'mended.js': MENDED },
      settings: { shutdownGraceMs: 0 },
    });
  };

  beforeAll(() => start());

  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const retry = (id: string) => board.http.post(`/api/v1/executions/${id}/retry`);
  const get = async (id: string): Promise<Execution> =>
    (await board.http.get(`/api/v1/executions/${id}`).expect(200)).body as Execution;

  const failedOf = async (correlation: string): Promise<string> => {
    const { body } = await board.http
      .get('/api/v1/executions')
      .query({ correlation_id: correlation, state: 'failed' })
      .expect(200);
    return (body as { items: { id: string }[] }).items[0]!.id;
  };

  /** Returns an order whose execution has failed, and that execution. */
  const broken = async (
    correlation = `order-${orders + 1}`,
  ): Promise<{ n: number; correlation: string; id: string }> => {
    const n = (orders += 1);
    await board.publish('Order', { n }, { correlation });
    await eventually('it has failed', async () => (await board.status(correlation)).error_count === 1);
    return { n, correlation, id: await failedOf(correlation) };
  };

  const generationOf = async (correlation: string): Promise<number> => {
    const [row] = await board.app.database.rows<{ generation: number }>(
      `select generation from correlations where id = '${correlation}'`,
    );
    return row!.generation;
  };

  it('runs again from its first attempt, and its workflow continues and settles once more', async () => {
    const { n, correlation, id } = await broken();
    expect(await board.status(correlation)).toMatchObject({ state: 'failed', has_pending_work: false });
    mend(n);
    const answer = await retry(id).expect(200);
    expect(answer.body).toMatchObject({
      id,
      state: expect.stringMatching(/pending|running|completed/) as string,
      round: 1,
      attempt: 1,
      ended_at: answer.body.ended_at,
    });
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 1, artifact_count: 4 });
    expect(await board.types(correlation)).toEqual(['Order', 'WorkflowError', 'Made', 'Done']);
    expect(await generationOf(correlation)).toBe(2);

    const execution = await get(id);
    expect(execution).toMatchObject({
      state: 'completed',
      outputs: [{ type: 'Made' }],
      errors: [{ type: 'WorkflowError' }],
    });
    expect(execution.attempts.map(({ round, attempt, error_message }) => [round, attempt, error_message])).toEqual([
      [0, 1, 'broken'],
      [0, 2, 'broken'],
      [1, 1, null],
    ]);
    expect(invocations(n).map(({ attempt, executionId }) => [attempt, executionId])).toEqual([
      [1, id],
      [2, id],
      [1, id],
    ]);
    // It has consumed the order once, whatever the result.
    const { body } = await board.http
      .get('/api/v1/artifacts')
      .query({ correlation_id: correlation, type: 'Order', embed_meta: true })
      .expect(200);
    expect(body).toMatchObject({ items: [{ consumed_by: ['fragile'], consumptions: [{ run_id: id }] }] });
    expect(body.items[0].consumptions).toHaveLength(1);
  });

  it('has all its attempts again, and may fail and be retried any number of times', async () => {
    const { n, correlation, id } = await broken();
    for (let round = 1; round <= 3; round += 1) {
      if (round === 3) mend(n);
      await retry(id).expect(200);
      await eventually(
        `round ${round} has finished`,
        async () =>
          (await generationOf(correlation)) === round + 1 && (await board.status(correlation)).state !== 'active',
      );
    }
    expect(await board.status(correlation)).toMatchObject({ state: 'completed', error_count: 3 });
    expect((await get(id)).attempts.map(({ round, attempt }) => [round, attempt])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
      [3, 1],
    ]);
    expect(tally(await board.types(correlation))).toEqual({ Order: 1, WorkflowError: 3, Made: 1, Done: 1 });
  });

  it('begins no new generation while others of its correlation still run, and waiting requests wait for both', async () => {
    const waiting = board.publishSync(
      'Hold',
      {},
      { correlation: 'open', visibility: { kind: 'After', ttl: 'PT1M' }, timeout: 300 },
    );
    await eventually('the publish is stored', async () => (await board.status('open')).state === 'active');
    const { n, id } = await broken('open');
    mend(n);
    await retry(id).expect(200);
    await eventually('it has completed', async () => (await get(id)).state === 'completed');
    expect(await generationOf('open')).toBe(1);
    clock.advance(61_000);
    expect(await waiting).toMatchObject({ completed: true });
    expect(tally(await board.types('open'))).toEqual({
      Hold: 1,
      Order: 1,
      WorkflowError: 1,
      Made: 1,
      Done: 1,
      Held: 1,
    });
  });

  it('makes a synchronous publish into its correlation wait for it', async () => {
    const { n, correlation, id } = await broken();
    await board.http.post('/api/v1/agents/fragile/pause').expect(200);
    await retry(id).expect(200);
    const waiting = board.publishSync('Made', { n: -1 }, { correlation, timeout: 300 });
    await eventually('what was published has run', async () => (await board.types(correlation)).includes('Done'));
    expect(await board.status(correlation)).toMatchObject({ state: 'active' });
    expect(await generationOf(correlation)).toBe(2);
    mend(n);
    await board.http.post('/api/v1/agents/fragile/resume').expect(200);
    const { completed, artifacts } = await waiting;
    expect([completed, artifacts.map(({ type }) => type)]).toEqual([true, ['Done', 'Made', 'Done']]);
  });

  it('of an unfinished run can be retried, and the run then completes', async () => {
    await board.http.post('/api/v1/agents/late/pause').expect(200);
    await board.http
      .post('/run/flock')
      .set('X-Correlation-ID', 'open-run')
      .send({ agent_name: 'late', inputs: {}, async_run: true })
      .expect(200);
    const { n, id } = await broken('open-run');
    mend(n);
    await retry(id).expect(200);
    await eventually('it has completed', async () => (await get(id)).state === 'completed');
    await board.http.post('/api/v1/agents/late/resume').expect(200);
    await board.ended('open-run');
    expect((await board.http.get('/run/open-run').expect(200)).body).toMatchObject({ status: 'completed' });
  });

  it('of a finished run cannot be retried: its status never changes', async () => {
    const n = (orders += 1);
    const { body } = await board.http.post('/run/flock').send({ agent_name: 'fragile', inputs: { n } }).expect(200);
    const { run_id } = body as { run_id: string };
    const id = await failedOf(run_id);
    mend(n);
    const { status, body: refusal } = await retry(id);
    expect([status, refusal]).toEqual([
      409,
      { detail: `Execution ${id} cannot be retried: its correlation ${run_id} is closed; start a new one` },
    ]);
    expect((await board.http.get(`/run/${run_id}`).expect(200)).body).toEqual(body);
    expect(await get(id)).toMatchObject({ state: 'failed', round: 0 });
  });

  it('of a cancelled correlation cannot be retried', async () => {
    await board.publish('Hold', {}, { correlation: 'cancelled', visibility: { kind: 'After', ttl: 'PT1M' } });
    const { id } = await broken('cancelled');
    await board.http.post('/api/v1/correlations/cancelled/cancel').expect(200);
    const before = await board.status('cancelled');
    expect((await retry(id)).status).toBe(409);
    expect(await board.status('cancelled')).toEqual(before);
  });

  it('is cancelled with its correlation while it is retried, and keeps its attempts', async () => {
    const { correlation, id } = await broken();
    await board.http.post('/api/v1/agents/fragile/pause').expect(200);
    await retry(id).expect(200);
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    await board.http.post('/api/v1/agents/fragile/resume').expect(200);
    const execution = await get(id);
    expect(execution).toMatchObject({ state: 'cancelled', round: 1, attempts: [{ attempt: 1 }, { attempt: 2 }] });
    expect(execution.attempts).toHaveLength(2);
    expect((await retry(id)).body).toEqual({
      detail: `Execution ${id} is cancelled; only a failed execution can be retried`,
    });
    // Its earlier attempts still count in the agent's history, with and without a filter.
    await board.http.get('/api/v1/agents/fragile/history-summary').query({ correlation_id: correlation }).expect(200);
  });

  it('is retried once by concurrent requests', async () => {
    const { n, correlation, id } = await broken();
    mend(n);
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
    await board.ended(correlation);
    expect(tally(await board.types(correlation))).toEqual({ Order: 1, WorkflowError: 1, Made: 1, Done: 1 });
  });

  it('in a direct run can be retried too: its outputs are stored, and no agent reacts', async () => {
    const n = (orders += 1);
    const { status } = await board.http
      .post('/api/v1/agents/fragile/run')
      .send({ inputs: [{ type: 'Order', payload: { n } }] });
    expect(status).toBe(500);
    const { body } = await board.http
      .get('/api/v1/executions')
      .query({ agent: 'fragile', state: 'failed', limit: 1 })
      .expect(200);
    const [{ id, correlation_id: correlation }] = body.items as [{ id: string; correlation_id: string }];
    expect((await get(id)) as unknown).toMatchObject({ direct: true });
    mend(n);
    await retry(id).expect(200);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect(await board.types(correlation)).toEqual(['Order', 'WorkflowError', 'Made']);
  });

  it('whose inputs have been deleted cannot be retried', async () => {
    const { correlation, id } = await broken();
    await board.app.app
      .get(UnitOfWork, { strict: false })
      .run(({ db }) =>
        db.deleteFrom('artifacts').where('correlation_id', '=', correlation).where('type', '=', 'Order').execute(),
      );
    const { status, body } = await retry(id);
    expect([status, body]).toEqual([
      409,
      { detail: `Execution ${id} cannot be retried: its inputs have been deleted` },
    ]);
  });

  it('of a removed agent cannot be retried, and can be when the agent is back after a restart', async () => {
    const { n, correlation, id } = await broken();
    mend(n);
    await board.close();
    clock.advance(10 * 60_000);
    await start(['next', 'late']);
    const { status, body } = await retry(id);
    expect([status, body]).toEqual([
      409,
      { detail: `Execution ${id} cannot be retried: no process has the agent fragile` },
    ]);
    await board.close();
    await start();
    await board.http.post('/api/v1/agents/fragile/pause').expect(200);
    await retry(id).expect(200);
    await board.close();
    await start();
    await board.http.post('/api/v1/agents/fragile/resume').expect(200);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 1 });
  });
});
