import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { connected } from '../support/postgres-cluster.js';
import { agent, anyObject, startCore } from './core.js';

const LEASE_MS = 30_000;

// Uses the core on a Postgres server. The test locks a row, as a transaction that ends an execution does. The clock is
// faked.
describe('the heartbeat', () => {
  it('renews other leases while a transaction has locked a row, and then that of the row', async () => {
    const clock = new ManualClock();
    const ends = new Map<string, () => void>();
    const run = (_inputs: unknown, { correlationId }: { correlationId: string }) =>
      new Promise<null>((resolve) => ends.set(correlationId, () => resolve(null)));
    const worker = agent('worker', [{ types: ['Order'] }], [], { timeoutMs: 3_600_000 });
    const catalog = new Catalog(['Order', 'WorkflowError'].map(anyObject), [worker]);
    const core = await startCore(catalog, { worker: { run } }, { leaseMs: LEASE_MS }, clock);
    try {
      const publish = async (): Promise<string> => {
        const correlationId = newId();
        await core.publisher.publish({
          artifactId: newId(),
          correlationId,
          type: 'Order',
          payload: {},
          tags: [],
          partitionKey: null,
          visibility: { kind: 'Public' },
        });
        await eventually('it runs', () => ends.has(correlationId));
        return correlationId;
      };
      const lease = async (correlationId: string): Promise<number | null> => {
        const found = core.unitOfWork.reader
          .selectFrom('executions')
          .select('lease_until')
          .where('correlation_id', '=', correlationId);
        return (await found.executeTakeFirstOrThrow()).lease_until;
      };
      const [first, locked, last] = [await publish(), await publish(), await publish()];
      const before = (await lease(locked))!;
      await connected(core.databaseUrl, async (client) => {
        await client.query('begin');
        await client.query('select 1 from executions where correlation_id = $1 for update', [locked]);
        clock.advance(LEASE_MS / 3);
        for (const other of [first, last])
          await eventually('the others are renewed', async () => (await lease(other))! > before);
        expect(await lease(locked)).toBe(before);
        // An outcome waits for no row that the heartbeat holds.
        ends.get(first)!();
        await eventually('another execution ends', async () => (await lease(first)) === null);
        await client.query('rollback');
      });
      await eventually('it is renewed, too', async () => (await lease(locked))! > before);
      ends.forEach((end) => end());
      await core.unitOfWork.idle();
    } finally {
      await core.close();
    }
  });
});
