import type { Publication, Published } from '../../src/blackboard/publishing/publication.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { eventually } from '../support/eventually.js';
import { agent, anyObject, type Core, startCore } from './core.js';

/** Runs until the test lets it end. */
class Held implements PreparedEngine {
  readonly started: string[] = [];
  private readonly ends: (() => void)[] = [];

  async run({ artifacts }: Parameters<PreparedEngine['run']>[0]): Promise<unknown> {
    this.started.push(artifacts[0]!.payload.name as string);
    await new Promise<void>((resolve) => this.ends.push(resolve));
    return null;
  }

  endAll(): void {
    this.ends.splice(0).forEach((end) => end());
  }
}

const publication = (type: string, name: string, parts: Partial<Publication> = {}): Publication => ({
  artifactId: newId(),
  correlationId: newId(),
  type,
  payload: { name },
  tags: ['one'],
  partitionKey: 'key',
  visibility: { kind: 'Public' },
  ...parts,
});

// Uses the core, its tables and its executor. The engines are functions.
describe('an execution that a free slot would take next', () => {
  let core: Core;
  let held: Held;

  async function start(maxWaitingArrivals: number): Promise<void> {
    held = new Held();
    const worker = agent('worker', [{ types: ['Order'] }, { types: ['Urgent'], priority: 5 }], [], {
      concurrency: 1,
      timeoutMs: 60_000,
    });
    const pairer = agent('pairer', [{ types: ['Order', 'Never'] }], []);
    const agents = maxWaitingArrivals === 0 ? [worker, pairer] : [worker];
    core = await startCore(
      new Catalog(['Order', 'Urgent', 'Never', 'WorkflowError'].map(anyObject), agents),
      { worker: held, pairer: { run: async () => null } },
      { maxWaitingArrivals, shutdownGraceMs: 0 },
    );
    const first = await publishStarted('Urgent', 'first');
    held.endAll();
    expect(await core.waiters.wait(first.correlationId, first.generation, 90_000)).toBe(true);
    held.started.splice(0);
  }

  /**
   * On Postgres an execution waits for a claim while the process looks around, which it does now and then. Those end, and
   * another one is published.
   */
  async function publishStarted(type: string, name: string): Promise<Published> {
    for (;;) {
      const published = await core.publisher.publish(publication(type, name));
      const [execution] = await executionsOf(published.correlationId);
      const count = held.started.length;
      if (execution!.state === 'running' && execution!.started_at === execution!.created_at) {
        await eventually('it runs', () => held.started.includes(name));
        return published;
      }
      await eventually('it runs', () => held.started.length > count || held.started.includes(name));
      held.endAll();
      expect(await core.waiters.wait(published.correlationId, published.generation, 90_000)).toBe(true);
      held.started.splice(0);
    }
  }

  afterEach(() => core.close());

  const executionsOf = (correlationId: string) =>
    core.unitOfWork.reader.selectFrom('executions').selectAll().where('correlation_id', '=', correlationId).execute();
  const executionsCounted = async () =>
    (await core.unitOfWork.reader.selectFrom('executions').select('id').execute()).length;
  const startsCounted = async () =>
    (await core.unitOfWork.reader.selectFrom('activity').select('agent').where('event', '=', 'started').execute())
      .length;

  it('is stored with its lease by the publish that triggers it, and gets the input as it is stored', async () => {
    await start(1);
    const { correlationId, generation } = await publishStarted('Order', 'second');
    const [execution] = await executionsOf(correlationId);
    expect(execution).toMatchObject({ state: 'running', attempt: 1, lost_leases: 0 });
    expect(execution!.lease_token).not.toBeNull();
    expect(execution!.lease_owner).not.toBeNull();
    expect(execution!.started_at).toBe(execution!.created_at);
    expect(held.started).toEqual(['second']);
    expect(await startsCounted()).toBe(await executionsCounted());
    held.endAll();
    expect(await core.waiters.wait(correlationId, generation, 90_000)).toBe(true);
    expect(await executionsOf(correlationId)).toMatchObject([{ state: 'completed', lease_token: null }]);
  });

  it('waits behind others by priority and age while something waits for the slot', async () => {
    await start(1);
    const published = [await publishStarted('Order', 'running')];
    for (const name of ['old', 'new']) published.push(await core.publisher.publish(publication('Order', name)));
    published.push(await core.publisher.publish(publication('Urgent', 'urgent')));
    const states = await Promise.all(published.map(({ correlationId }) => executionsOf(correlationId)));
    expect(states.flat().map(({ state }) => state)).toEqual(['running', 'pending', 'pending', 'pending']);
    for (let begun = 1; begun <= 4; begun += 1) {
      await eventually(`${begun} have started`, () => held.started.length === begun);
      held.endAll();
    }
    for (const { correlationId, generation } of published)
      expect(await core.waiters.wait(correlationId, generation, 90_000)).toBe(true);
    expect(held.started).toEqual(['running', 'urgent', 'old', 'new']);
  });

  it('leaves its slot free if the transaction is rolled back', async () => {
    await start(0);
    await expect(core.publisher.publish(publication('Order', 'refused'))).rejects.toThrow('artifacts wait in joins');
    await publishStarted('Urgent', 'second');
    expect(held.started).toEqual(['second']);
    held.endAll();
  });

  it('is stored as pending while its agent is paused', async () => {
    await start(1);
    await core.unitOfWork.run((tx) =>
      tx.db.insertInto('agent_pauses').values({ agent: 'worker', paused_at: 1 }).execute(),
    );
    const { correlationId } = await core.publisher.publish(publication('Order', 'paused'));
    expect(await executionsOf(correlationId)).toMatchObject([{ state: 'pending', lease_token: null, claim: null }]);
    await core.unitOfWork.run((tx) => tx.db.deleteFrom('agent_pauses').execute());
    core.signals.executionReturned.publish('worker');
    await eventually('it runs', () => held.started.length === 1);
    held.endAll();
  });
});
