// Uses the application, its database and HTTP. The test sets the clock and the time of a deletion.
import { SchedulerLocks } from '../../src/blackboard/processes/scheduler-locks.repository.js';
import { Cleanup } from '../../src/blackboard/retention/cleanup.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { BatchDeletion } from '../../src/features/batches/batch-deletion.js';
import { ended as batchEnded, orders, send, show } from '../e2e/batch-board.js';
import { Board } from '../e2e/board.js';
import { Experiments } from '../e2e/experiment-board.js';
import { Outside } from '../e2e/outside.js';
import { termsOf } from '../faults/invariants.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard, DAY_MS } from './cleaned-board.js';

const CONFIG = `
server: { retain_executions: 40d, retain_runs: 60d, retain_batches: 80d, retain_deliveries: 50d, max_ttl: 60d, outbound_allow: [127.0.0.0/8] }
types:
  Note: { retain: 30d }
  Echo: { retain: 30d }
  Half: { retain: 30d }
  OtherHalf: { retain: 30d }
  Early: { retain: 30d }
  Gathered: { retain: 30d }
  Order: { retain: 30d }
  Picked: { retain: 30d }
  Wrong: { retain: 30d }
  WorkflowError: { retain: 30d }
  Asked: { retain: 30d }
agents:
  echo:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Echo, tags: [loud] }]
    engine: { kind: expression, expression: '{"heard": true}' }
  keeper:
    consumes: [{ types: [Echo] }]
    publishes: [{ type: Kept }]
    engine: { kind: expression, expression: '{}' }
  joiner:
    consumes: [{ types: [Half, OtherHalf], join: { by: payload.key } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  timely:
    consumes: [{ types: [Early, Late], join: { within: 90d } }]
    publishes: [{ type: Whole }]
    engine: { kind: expression, expression: '{}' }
  gatherer:
    consumes: [{ types: [Gathered], batch: { size: 2 } }]
    publishes: [{ type: Gathering }]
    engine: { kind: function, module: ./gate.js }
    timeout: 3000d
  asked:
    consumes: [{ types: [Asked] }]
    publishes: [{ type: Answered }]
    engine: { kind: external }
    timeout: 3000d
  picker:
    consumes: [{ types: [Order], where: 'false' }]
    publishes: [{ type: Picked }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  failing:
    consumes: [{ types: [Wrong] }]
    engine: { kind: expression, expression: payload.missing }
    retry: { attempts: 1 }
`;

// Every invocation waits at the gate, because time that jumps makes the lease of the first one expire.
const GATE = `globalThis.gathering ??= Promise.withResolvers(); export default () => globalThis.gathering.promise;`;

const clock = new ManualClock();
let board: Board;
let cleaned: CleanedBoard;

beforeAll(async () => {
  board = await Board.start(CONFIG, { clock, files: { 'gate.js': GATE }, settings: { shutdownGraceMs: 0 } });
  cleaned = new CleanedBoard(board, clock);
});

afterAll(() => board.close());

const idsOf = async (correlation: string): Promise<string[]> =>
  (await board.artifacts(correlation)).map(({ id }) => id);

/** Counts them in the history of an agent. */
async function executionsOf(agent: string, filter: object): Promise<number> {
  const { body } = await board.http.get(`/api/v1/agents/${agent}/history-summary`).query(filter).expect(200);
  return (body as { summary: { total_executions: number } }).summary.total_executions;
}

/** Publishes into a separate correlation, and waits until it has finished. */
async function publishEnded(type: string, payload: object, parts: object = {}): Promise<string> {
  const correlation = await board.publish(type, payload, parts);
  await board.ended(correlation);
  return correlation;
}

/** Runs one step, after which the process stops. */
async function cleanUpBatchesUntilStopped(): Promise<void> {
  const { app } = board.app;
  const lock = await app.get(SchedulerLocks, { strict: false }).take('retention', 1);
  let steps = 0;
  const cleanup = new Cleanup(
    clock.now(),
    DAY_MS,
    app.get(UnitOfWork, { strict: false }),
    lock!,
    () => (steps += 1) > 1,
  );
  await app.get(BatchDeletion, { strict: false }).run(cleanup);
}

describe('artifacts', () => {
  it('are deleted when they are older than the retention of their type, and no sooner', async () => {
    const old = await publishEnded('Note', {}, { tags: ['urgent'] });
    const [note, echo, kept] = await idsOf(old);
    await cleaned.cleanUpAfter(29);
    expect(await board.types(old)).toEqual(['Note', 'Echo', 'Kept']);
    const young = await publishEnded('Note', {});

    const published = await cleaned.metric('blackboard_artifacts_total');
    await cleaned.cleanUpAfter(1);
    expect(await board.types(old)).toEqual(['Kept']);
    expect(await board.types(young)).toEqual(['Note', 'Echo', 'Kept']);

    // All counts agree, except those of everything ever published.
    expect(await cleaned.metric('blackboard_artifacts_total')).toBe(published);
    expect([
      await cleaned.total({}),
      await cleaned.total({ type: 'Note' }),
      await cleaned.total({ correlation_id: old }),
      await cleaned.total({ tag: 'urgent' }),
    ]).toEqual([4, 1, 1, 0]);
    expect(await board.status(old)).toMatchObject({ state: 'completed', artifact_count: 1, error_count: 0 });
    expect(await board.status(young)).toMatchObject({ state: 'completed', artifact_count: 3 });
    const { body: summary } = await board.http.get('/api/v1/artifacts/summary').expect(200);
    expect(summary).toMatchObject({
      summary: {
        total_count: 4,
        by_type: { Note: 1, Echo: 1, Kept: 2 },
        by_producer: { external: 1, echo: 1, keeper: 2 },
      },
    });

    for (const id of [note, echo]) {
      const { body } = await board.http.get(`/api/v1/artifacts/${id}`).expect(404);
      expect(body).toEqual({ detail: `Artifact not found: ${id}` });
    }
    await board.http.get(`/api/v1/artifacts/${kept}`).expect(200);
    expect([
      await cleaned.count('artifact_tags', `tag = 'urgent'`),
      await cleaned.count('consumptions', `consumer = 'echo'`),
    ]).toEqual([0, 1]);
  });

  it('leave their results unchanged', async () => {
    const correlation = await publishEnded('Note', {});
    await cleaned.cleanUpAfter(31);
    const { body } = await board.http
      .get('/api/v1/artifacts')
      .query({ correlation_id: correlation, embed_meta: true })
      .expect(200);
    expect(body).toMatchObject({
      items: [{ type: 'Kept', produced_by: 'keeper', consumptions: [], consumed_by: [] }],
      pagination: { total: 1 },
    });
    expect([
      await executionsOf('echo', {}),
      await executionsOf('echo', { correlation_id: correlation }),
      await executionsOf('keeper', { correlation_id: correlation }),
    ]).toEqual([3, 0, 1]);
  });

  it('stay while their correlation is active', async () => {
    const correlation = await board.publish('Note', {}, { visibility: { kind: 'After', ttl: 'P50D' } });
    await cleaned.cleanUpAfter(40);
    expect(await board.types(correlation)).toEqual(['Note']);
    clock.advance(11 * DAY_MS);
    expect(await board.ended(correlation)).toMatchObject({ artifact_count: 3 });
    await cleaned.cleanUpAfter(1);
    expect(await board.types(correlation)).toEqual(['Echo', 'Kept']);
  });

  it('stay while they wait for the rest of a join, within the retention of their type', async () => {
    const correlation = await publishEnded('Half', { key: 'a' });
    await cleaned.cleanUpAfter(29);
    expect(await board.types(correlation)).toEqual(['Half']);
    const other = await publishEnded('OtherHalf', { key: 'a' });
    expect(await board.types(other)).toEqual(['OtherHalf', 'Whole']);
    await cleaned.cleanUpAfter(2);
    expect([await board.types(correlation), await board.types(other)]).toEqual([[], ['OtherHalf', 'Whole']]);
    await cleaned.cleanUpAfter(29);
    expect(await board.types(other)).toEqual(['Whole']);
  });

  it('leave a join without a time limit when they are older, with their settled correlation', async () => {
    const old = await publishEnded('Half', { key: 'late' }, { correlation: 'half-filled' });
    await cleaned.cleanUpAfter(20);
    const young = await publishEnded('Half', { key: 'late' });
    await cleaned.cleanUpAfter(11);
    expect([await board.types(old), await board.types(young)]).toEqual([[], ['Half']]);
    expect((await board.status(old)).state).toBe('not_found');
    // The one behind it has moved up, and no deleted artifact is joined.
    expect(await board.types(await publishEnded('OtherHalf', { key: 'late' }))).toEqual(['OtherHalf', 'Whole']);
    expect(await board.types(await publishEnded('OtherHalf', { key: 'late' }))).toEqual(['OtherHalf']);
    expect(await cleaned.count('join_groups', `"key" = '"late"'`)).toBe(1);
  });

  it('stay while a join with a time limit waits for its other half', async () => {
    const correlation = await board.publish('Early', {});
    await cleaned.cleanUpAfter(40);
    expect([await board.types(correlation), (await board.status(correlation)).state]).toEqual([['Early'], 'active']);
    expect(await board.artifacts((await board.publishSync('Late', {}, { correlation })).correlation_id)).toMatchObject([
      { type: 'Early' },
      { type: 'Late' },
      { type: 'Whole' },
    ]);
  });

  it('stay while an execution of another correlation has yet to finish with them', async () => {
    const first = await publishEnded('Gathered', {});
    const owner = await board.publish('Gathered', {});
    await eventually('the window runs', () => 'gathering' in globalThis);
    expect((await board.status(first)).state).toBe('completed');
    await cleaned.cleanUpAfter(100);
    expect(await board.types(first)).toEqual(['Gathered']);
    (globalThis as unknown as { gathering: PromiseWithResolvers<object> }).gathering.resolve({});
    await board.ended(owner);
    await cleaned.cleanUpAfter(0.5);
    // The owner has settled too recently: an idempotency key may still refer to an artifact published into it.
    expect([await board.types(first), await board.types(owner)]).toEqual([[], ['Gathered', 'Gathering']]);
    await cleaned.cleanUpAfter(1);
    expect(await board.types(owner)).toEqual(['Gathering']);
  });

  it('take their correlation with them when nothing else is left of it, and its id is new again', async () => {
    await cleaned.cleanUpAfter(100);
    const correlation = await publishEnded('Wrong', {}, { correlation: 'to-be-forgotten' });
    expect(await board.status(correlation)).toMatchObject({ state: 'failed', artifact_count: 2, error_count: 1 });
    const list = () => board.http.get('/api/v1/correlations');
    const { body: page } = await list().query({ limit: 1 }).expect(200);
    expect(page).toMatchObject({ items: [{ correlation_id: correlation }], pagination: { has_more: true } });
    await cleaned.cleanUpAfter(31);
    expect(await board.status(correlation)).toMatchObject({ state: 'failed', artifact_count: 0, error_count: 0 });
    await cleaned.cleanUpAfter(10);
    expect(await board.status(correlation)).toMatchObject({ state: 'not_found' });
    expect(await cleaned.count('correlations', `id = '${correlation}'`)).toBe(0);
    expect((await list().query({ id_prefix: correlation })).body).toMatchObject({ items: [] });
    // A reader of the list continues after it.
    const { next } = (page as { pagination: { next: string } }).pagination;
    await list().query({ limit: 1, after: next }).expect(200);
    expect(await board.app.database.look(termsOf)).toEqual([]);
    await publishEnded('Note', {}, { correlation });
    expect(await board.status(correlation)).toMatchObject({ state: 'completed', artifact_count: 3, error_count: 0 });
  });

  it('stay as long as an idempotency key may refer to them, even with a shorter retention', async () => {
    const key = { 'X-Idempotency-Key': 'once', 'X-Correlation-ID': 'keyed' };
    const send = () => board.http.post('/api/v1/artifacts').set(key).send({ type: 'Note', payload: {} }).expect(200);
    await send();
    await board.ended('keyed');
    clock.advance(86_000_000);
    expect((await send()).headers['x-idempotency-replayed']).toBe('true');
    expect(await board.status('keyed')).toMatchObject({ artifact_count: 3 });
  });
});

describe('executions', () => {
  it('are deleted after their retention, and their inputs and outputs can be read as before', async () => {
    const correlation = await publishEnded('Kept', {});
    const noted = await publishEnded('Note', {});
    const before = await cleaned.metric('blackboard_executions_total');
    await cleaned.cleanUpAfter(25);
    expect(await cleaned.count('executions', `correlation_id = '${noted}'`)).toBe(2);
    await cleaned.cleanUpAfter(16);
    expect(await cleaned.count('executions', `correlation_id = '${noted}'`)).toBe(0);
    expect(
      await cleaned.count('execution_inputs', 'not exists (select 1 from executions where id = execution_id)'),
    ).toBe(0);
    expect(await cleaned.metric('blackboard_executions_total')).toBe(before);
    expect([await board.types(noted), await board.types(correlation)]).toEqual([['Kept'], ['Kept']]);
    await board.http.get('/api/v1/artifacts').query({ embed_meta: true, correlation_id: noted }).expect(200);
    expect(await executionsOf('keeper', { correlation_id: noted })).toBe(0);
    const { body: trace } = await board.http.get(`/api/v1/correlations/${noted}/trace`).expect(200);
    expect(trace).toMatchObject({ artifact_count: 1, artifacts: [{ type: 'Kept', input_of: [] }], executions: [] });
    const [kept] = await idsOf(noted);
    await board.http.get(`/api/v1/artifacts/${kept}/explain`).expect(200);
  });
});

describe('deliveries', () => {
  it('keep their artifacts until they have finished, and are then deleted by themselves', async () => {
    const correlation = await publishEnded('Note', {}, { webhook: { url: 'http://127.0.0.1:9/hook' } });
    await cleaned.cleanUpAfter(31);
    expect(await board.types(correlation)).toEqual(['Note', 'Echo', 'Kept']);

    // Marks them as if the receiver had accepted them.
    const delivered = {
      state: 'delivered' as never,
      ended_at: clock.now(),
      available_at: null,
      lease_token: null,
      lease_owner: null,
      lease_until: null,
    };
    await board.app.app
      .get(UnitOfWork, { strict: false })
      .run(({ db }) => db.updateTable('deliveries').set(delivered).where('correlation_id', '=', correlation).execute());
    await cleaned.cleanUpAfter(1);
    expect(await board.types(correlation)).toEqual(['Kept']);
    const { body } = await board.http
      .get('/api/v1/webhooks/deliveries')
      .query({ correlation_id: correlation })
      .expect(200);
    const [, , note] = (body as { items: { delivery_id: string }[] }).items;
    await board.http.get(`/api/v1/webhooks/deliveries/${note!.delivery_id}`).expect(200);
    const { body: refusal } = await board.http
      .post(`/api/v1/webhooks/deliveries/${note!.delivery_id}/redeliver`)
      .expect(409);
    expect(refusal).toEqual({
      detail: `Delivery ${note!.delivery_id} cannot be sent again: its artifact has been deleted`,
    });

    await cleaned.cleanUpAfter(49);
    await board.http.get(`/api/v1/webhooks/deliveries/${note!.delivery_id}`).expect(404);
    expect([
      await cleaned.count('deliveries'),
      await cleaned.count('delivery_attempts', 'not exists (select 1 from deliveries where id = delivery_id)'),
    ]).toEqual([0, 0]);
  });
});

describe('runs', () => {
  it('keep their result until they are deleted themselves', async () => {
    const { body } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'picker', inputs: { n: 7 } })
      .expect(200);
    const { run_id: id } = body as { run_id: string };
    await cleaned.cleanUpAfter(59);
    expect((await board.http.get(`/run/${id}`).expect(200)).body).toEqual(body);
    expect(await board.types(id)).toEqual(['Order', 'Picked']);
    await cleaned.cleanUpAfter(1);
    // Rows that no longer belong to a run are deleted in the same cleanup.
    await board.http.get(`/run/${id}`).expect(404);
    expect([await board.types(id), (await board.status(id)).state]).toEqual([[], 'not_found']);
    expect((await board.http.get('/api/v1/runs').expect(200)).body).toMatchObject({ items: [] });
  });
});

describe('batches', () => {
  it('keep all their results until they are deleted, with their rows and runs', async () => {
    const id = await send(board, 'picker', [...orders(5), { n: 'no number' }]);
    const batch = await batchEnded(board, id);
    expect(batch.results).toHaveLength(6);
    await cleaned.cleanUpAfter(79);
    expect((await show(board, id, { results_limit: 10 })).results).toEqual(batch.results);
    await cleaned.cleanUpAfter(1);
    await board.http.get(`/batch/${id}`).expect(404);
    for (const { run_id } of batch.results) await board.http.get(`/run/${run_id}`).expect(404);
    expect([await cleaned.count('batches'), await cleaned.count('batch_rows'), await cleaned.count('runs')]).toEqual([
      0, 0, 0,
    ]);
    expect([
      await cleaned.total({ type: 'Picked' }),
      await cleaned.count('correlations', `id = '${batch.results[0]!.run_id}'`),
    ]).toEqual([0, 0]);
  });

  it('are no longer visible before the first of their results is deleted, and a later cleanup continues', async () => {
    const id = await send(board, 'picker', orders(3));
    await batchEnded(board, id);
    clock.advance(100 * DAY_MS);
    await cleanUpBatchesUntilStopped();
    expect(await cleaned.count('batches', `status = 'removed'`)).toBe(1);
    for (const path of [`/batch/${id}`, `/batch/${id}/results`]) await board.http.get(path).expect(404);
    for (const path of [`/batch/${id}/cancel`, `/batch/${id}/retry-failed`]) await board.http.post(path).expect(404);
    expect((await board.http.get('/api/v1/batches').expect(200)).body).toMatchObject({ items: [] });
    expect([await cleaned.count('batch_rows'), await cleaned.count('runs')]).toEqual([3, 3]);
    await cleaned.cleanUpAfter(2);
    expect([await cleaned.count('batches'), await cleaned.count('batch_rows'), await cleaned.count('runs')]).toEqual([
      0, 0, 0,
    ]);
  });
});

describe('experiments', () => {
  it('are kept as long as batches, and are deleted with their rows and trials', async () => {
    const experiments = new Experiments(board.http);
    const { experiment_id: id } = await experiments.run({
      data: { csv: 'n\n1\n2\n', agent: 'picker' },
      output: 'Picked',
      variants: [{ name: 'one' }, { name: 'other' }],
      scorers: [{ name: 'latency', kind: 'latency' }],
    });
    const counts = async (): Promise<number[]> => [
      await cleaned.count('experiments'),
      await cleaned.count('experiment_rows'),
      await cleaned.count('experiment_trials'),
    ];
    await cleaned.cleanUpAfter(79);
    expect(await experiments.rows(id)).toHaveLength(2);
    expect(await counts()).toEqual([1, 2, 4]);
    await cleaned.cleanUpAfter(2);
    await board.http.get(`/api/v1/experiments/${id}`).expect(404);
    expect(await counts()).toEqual([0, 0, 0]);
  });
});

describe('executions that wait for external work', () => {
  it('are kept with their inputs at any age, and are deleted like others once they have finished', async () => {
    const outside = new Outside(board.http);
    const [first, second] = [await board.publish('Asked', { n: 1 }), await board.publish('Asked', { n: 2 })];
    const held = await outside.claimOne({ agents: ['asked'], max: 1 });
    await cleaned.cleanUpAfter(100);
    expect(await outside.execution(held.execution_id)).toMatchObject({
      state: 'running',
      correlation_id: first,
      inputs: [{ payload: { n: 1 } }],
    });
    expect(await outside.send(held, 'complete', { output: {} })).toMatchObject({
      status: 200,
      body: { inputs: [{ payload: { n: 1 } }] },
    });
    const waited = await outside.claimOne({ agents: ['asked'] });
    expect(waited).toMatchObject({ correlation_id: second, inputs: [{ payload: { n: 2 } }] });
    expect(await outside.send(waited, 'complete', { output: {} })).toMatchObject({ status: 200 });
    for (const correlation of [first, second])
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    await cleaned.cleanUpAfter(100);
    for (const { execution_id } of [held, waited])
      await board.http.get(`/api/v1/executions/${execution_id}`).expect(404);
    for (const correlation of [first, second]) expect(await board.types(correlation)).toEqual(['Answered']);
  });
});
