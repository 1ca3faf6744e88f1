import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
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

  const publish = async (id: string): Promise<void> => {
    await core.publisher.publish(publication({ type: 'A', hiddenMs: 0, script: { fails: 0, key: 0, emit: [] } }, id));
  };
  const ended = (id: string): Promise<void> => eventually(`${id} has finished`, () => allSettled(core, [id]));

  it('never start the execution', async () => {
    const [before, id, after] = [newId(), newId(), newId()];
    // By now the executor has finished its first query.
    await publish(before);
    await ended(before);
    // Subscribes after the executor, so that the transaction of its claim is in the queue, and this one behind it.
    let cancelling: Promise<void> | undefined;
    const unsubscribe = core.signals.executionReady.subscribe(() => {
      cancelling ??= core.unitOfWork.run((tx) => core.cancellation.cancel(tx, id));
    });
    await publish(id);
    unsubscribe();
    await cancelling;
    await publish(after);
    await ended(after);
    const rows = await core.unitOfWork.reader
      .selectFrom('executions')
      .select(['state', 'started_at'])
      .where('correlation_id', '=', id)
      .execute();
    expect(rows).toEqual([{ state: 'cancelled', started_at: expect.any(Number) }]);
    expect(invoked).toEqual([before, after]);
  });
});
