import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { replaceScheduler, type Scheduler, scheduler } from '../../src/common/scheduler.js';
import { eventually } from '../support/eventually.js';
import { agent, anyObject, type Core, startCore } from './core.js';
import { allSettled, publication } from './scripted-agents.js';

/** The correlation of every invocation of the engine so far. */
const invoked: string[] = [];

// Uses the core on a SQLite file, where several transactions share a commit; on Postgres each has its own.
describe('a claim and a cancelling in one commit', () => {
  let core: Core;

  beforeAll(async () => {
    const worker = agent('worker', [{ types: ['A'] }], []);
    const engine = {
      run: async (_inputs: unknown, { correlationId }: { correlationId: string }) => void invoked.push(correlationId),
    };
    core = await startCore(new Catalog([anyObject('A'), anyObject('WorkflowError')], [worker]), { worker: engine });
  });

  afterAll(() => core.close());

  beforeEach(() => void invoked.splice(0));

  const publish = async (id: string, hiddenMs = 0): Promise<void> => {
    await core.publisher.publish(publication({ type: 'A', hiddenMs, script: { fails: 0, key: 0, emit: [] } }, id));
  };
  const ended = (id: string): Promise<void> => eventually(`${id} has finished`, () => allSettled(core, [id]));

  let restore: (() => void) | undefined;
  /** A group ends after some milliseconds, in which a busy machine does not always run both transactions. */
  const stopTheClockOfGroups = (): void => {
    restore = replaceScheduler(Object.assign(Object.create(scheduler) as Scheduler, { elapsed: () => 0 }));
  };
  const letTheClockRun = (): void => {
    restore?.();
    restore = undefined;
  };
  // After a failure, too: the suites of a worker share the scheduler.
  afterEach(letTheClockRun);

  const startedOf = (id: string) =>
    core.unitOfWork.reader
      .selectFrom('executions')
      .select(['state', 'started_at'])
      .where('correlation_id', '=', id)
      .execute();

  it('never start the execution', async () => {
    const [before, id, after] = [newId(), newId(), newId()];
    // By now the executor has finished its first query.
    await publish(before);
    await ended(before);
    // Subscribes after the executor, so that the transaction of its claim is in the queue, and this one behind it.
    let cancelling: Promise<void> | undefined;
    const unsubscribe = core.signals.executionReady.subscribe(() => {
      if (!restore) stopTheClockOfGroups();
      cancelling ??= core.unitOfWork.run((tx) => core.cancellation.cancel(tx, id));
    });
    // Only what is not new has to be claimed: the artifact is still hidden when its publish commits, and released later.
    await publish(id, 1_000);
    await eventually('it is cancelled', () => cancelling !== undefined);
    unsubscribe();
    await cancelling;
    letTheClockRun();
    await publish(after);
    await ended(after);
    expect(await startedOf(id)).toEqual([{ state: 'cancelled', started_at: expect.any(Number) }]);
    expect(invoked).toEqual([before, after]);
  });

  it('never start an execution that needs no claim', async () => {
    const [before, id, after] = [newId(), newId(), newId()];
    await publish(before);
    await ended(before);
    const { unitOfWork } = core;
    const run = unitOfWork.run.bind(unitOfWork);
    let cancelling: Promise<void> | undefined;
    // The next transaction is that of the publish, and the one behind it joins its commit.
    unitOfWork.run = (work, how) => {
      unitOfWork.run = run;
      const published = run(work, how);
      cancelling = run((tx) => core.cancellation.cancel(tx, id));
      return published;
    };
    stopTheClockOfGroups();
    await publish(id);
    await cancelling;
    letTheClockRun();
    await publish(after);
    await ended(after);
    expect(await startedOf(id)).toEqual([{ state: 'cancelled', started_at: expect.any(Number) }]);
    expect(invoked).toEqual([before, after]);
  });
});
