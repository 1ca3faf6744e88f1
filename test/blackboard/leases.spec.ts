import type { Publication } from '../../src/blackboard/publishing/publication.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { agent, anyObject, type Core, startCore } from './core.js';

type Step = 'answer' | 'fail';

/** Waits for a signal from the test, by correlation. */
class Directed implements PreparedEngine {
  readonly running = new Map<string, (step: Step) => void>();

  async run(_inputs: unknown, { correlationId }: { correlationId: string }): Promise<unknown> {
    const step = await new Promise<Step>((resolve) => this.running.set(correlationId, resolve));
    if (step === 'fail') throw new Error('as told');
    return { done: true };
  }

  async tell(correlationId: string, step: Step): Promise<void> {
    await eventually(`the engine runs for ${correlationId}`, () => this.running.has(correlationId));
    this.running.get(correlationId)!(step);
  }
}

const publication = (correlationId: string, parts: Partial<Publication> = {}): Publication => ({
  artifactId: newId(),
  correlationId,
  type: 'Order',
  payload: {},
  tags: [],
  partitionKey: null,
  visibility: { kind: 'Public' },
  ...parts,
});

// Uses the core, its tables and its executor. The engines are functions, and another process is simulated by a change
// of the row.
describe('an execution whose lease another process took while its engine ran', () => {
  const engine = new Directed();
  let core: Core;

  beforeAll(async () => {
    const worker = agent('worker', [{ types: ['Order'] }], ['Receipt'], {
      timeoutMs: 60_000,
      retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 },
    });
    const follower = agent('follower', [{ types: ['Receipt', 'WorkflowError'], mode: 'any' }], ['Note']);
    const types = ['Order', 'Receipt', 'Note', 'WorkflowError'].map(anyObject);
    // This process runs one execution at a time, with one attempt: when the next one finishes, the outcome of the one
    // before has been decided.
    core = await startCore(
      new Catalog(types, [worker, follower]),
      { worker: engine, follower: { run: async () => ({}) } },
      { maxConcurrentExecutions: 1 },
    );
  });

  afterAll(() => core.close());

  const reader = () => core.unitOfWork.reader;
  const executionsOf = (id: string) =>
    reader().selectFrom('executions').selectAll().where('correlation_id', '=', id).execute();
  const correlation = (id: string) =>
    reader().selectFrom('correlations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it.each<Step>(['answer', 'fail'])('commits nothing if its engine is to %s', async (step) => {
    const lost = newId();
    await core.publisher.publish(publication(lost));
    await eventually('the engine runs', () => engine.running.has(lost));
    const before = await correlation(lost);
    const taken = { lease_token: newId(), lease_owner: newId() };
    await core.unitOfWork.run((tx) =>
      tx.db.updateTable('executions').set(taken).where('correlation_id', '=', lost).execute(),
    );
    const held = await executionsOf(lost);

    await engine.tell(lost, step);
    const next = newId();
    const { generation } = await core.publisher.publish(publication(next));
    await engine.tell(next, 'answer');
    expect(await core.waiters.wait(next, generation, 90_000)).toBe(true);

    expect(held).toMatchObject([{ state: 'running', ...taken }]);
    expect(await executionsOf(lost)).toEqual(held);
    expect(await correlation(lost)).toEqual(before);
    expect(before).toMatchObject({ state: 'active', pending: 1, artifact_count: 1, output_count: 0, error_count: 0 });
    const artifacts = await reader()
      .selectFrom('artifacts')
      .select('type')
      .where('correlation_id', '=', lost)
      .execute();
    expect(artifacts).toEqual([{ type: 'Order' }]);
    expect(
      await reader().selectFrom('consumptions').selectAll().where('execution_id', '=', held[0]!.id).execute(),
    ).toEqual([]);
  });

  it('commits its outcome if it kept its lease', async () => {
    const kept = newId();
    const { generation } = await core.publisher.publish(publication(kept));
    await engine.tell(kept, 'answer');
    expect(await core.waiters.wait(kept, generation, 90_000)).toBe(true);
    expect(await executionsOf(kept)).toMatchObject([{ state: 'completed', lease_token: null }, { state: 'completed' }]);
    expect(await correlation(kept)).toMatchObject({ state: 'completed', pending: 0, output_count: 2 });
  });
});

describe('artifacts that one pass over the timers releases', () => {
  let core: Core;
  const seen: unknown[] = [];

  beforeAll(async () => {
    const engine: PreparedEngine = {
      run: async ({ artifacts }) => {
        seen.push(artifacts[0]!.payload.name);
        return null;
      },
    };
    const worker = agent('worker', [{ types: ['Order'] }], [], { concurrency: 1 });
    core = await startCore(new Catalog([anyObject('Order'), anyObject('WorkflowError')], [worker]), { worker: engine });
  });

  afterAll(() => core.close());

  it('reach their agents in the order of their release, not of their publishing', async () => {
    const id = newId();
    const hidden = (name: string, ttl: string) =>
      core.publisher.publish(publication(id, { payload: { name }, visibility: { kind: 'After', ttl } }));
    await hidden('third', 'PT3H');
    await hidden('first', 'PT1H');
    const { generation } = await hidden('second', 'PT2H');
    expect(seen).toEqual([]);

    // Backdated by a day: all are due, and the next pass finds them together.
    const day = 86_400_000;
    await core.unitOfWork.run(async (tx) => {
      await tx.db
        .updateTable('artifacts')
        .set(({ eb }) => ({ created_at: eb('created_at', '-', day) }))
        .execute();
      await tx.db
        .updateTable('timers')
        .set(({ eb }) => ({ due_at: eb('due_at', '-', day) }))
        .execute();
    });
    core.signals.timerSet.publish(Date.now());
    expect(await core.waiters.wait(id, generation, 90_000)).toBe(true);
    expect(seen).toEqual(['first', 'second', 'third']);
  });
});
