import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { replaceScheduler, type Scheduler, scheduler } from '../../src/common/scheduler.js';
import type { Transaction } from '../../src/database/unit-of-work.js';
import { eventually } from '../support/eventually.js';
import { agent, anyObject, type Core, startCore } from './core.js';

/** Longer than the transactions of a group may take together. */
const LONG_MS = 20;

// Uses the core, its tables and its executor. The engine is a function.
describe('a claim that runs again because its group is rolled back', () => {
  let core: Core;
  let elapsed = 0;
  let takeBack = (): unknown => undefined;

  beforeEach(() => {
    // The test decides how long transactions take, and so which of them share a group.
    takeBack = replaceScheduler(Object.assign(Object.create(scheduler) as Scheduler, { elapsed: () => elapsed }));
  });

  afterEach(async () => {
    takeBack();
    await core.close();
  });

  it('starts nothing in the slot of an outcome that is rolled back with it', async () => {
    const ends: (() => void)[] = [];
    const held = { run: () => new Promise((resolve) => ends.push(() => resolve(null))) };
    core = await startCore(
      new Catalog(['Order', 'Other', 'WorkflowError'].map(anyObject), [
        agent('worker', [{ types: ['Order'] }], [], { concurrency: 1, timeoutMs: 60_000 }),
        agent('another', [{ types: ['Other'] }], []),
      ]),
      { worker: held, another: { run: async () => null } },
    );
    const publish = async (): Promise<void> => {
      const ids = { artifactId: newId(), correlationId: newId() };
      const visibility = { kind: 'Public' } as const;
      await core.publisher.publish({ ...ids, type: 'Order', payload: {}, tags: [], partitionKey: null, visibility });
    };
    const stateOf = async ({ db }: Pick<Transaction, 'db'>): Promise<string[]> =>
      (await db.selectFrom('executions').select('state').orderBy('seq').execute()).map(({ state }) => state);
    await publish();
    await publish();
    await eventually('the first one runs', () => ends.length === 1);

    // The transactions of the group, in their order: one that the others wait for, a claim, one that takes long when it runs
    // again, the outcome, and one that fails after the outcome.
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const first = core.unitOfWork.run(() => begun);
    core.signals.executionReady.publish('another');
    let runs = 0;
    const slow = core.unitOfWork.run(async () => {
      runs += 1;
      if (runs > 1) elapsed += LONG_MS;
    });
    const afterSlow = slow.then(() => stateOf({ db: core.unitOfWork.reader }));
    ends[0]!();
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const refused = core.unitOfWork.run(async (tx) => {
      throw new Error(`refused after ${(await stateOf(tx)).join(' and ')}`);
    });
    begin();

    await expect(refused).rejects.toThrow('refused after completed and ');
    await first;
    expect(runs).toBe(2);
    expect(await afterSlow).toEqual(['running', 'pending']);
    await eventually('the second one runs', () => ends.length === 2);
    ends[1]!();
  });
});
