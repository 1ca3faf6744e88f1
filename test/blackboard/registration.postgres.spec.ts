import { sql } from 'kysely';

import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { agent, anyObject, startCore } from './core.js';

const LEASE_MS = 30_000;

// Uses the core on a Postgres server. The test removes the registration, as another process does when it has expired.
describe('a process whose registration has expired', () => {
  it('starts no execution until it has registered again', async () => {
    const clock = new ManualClock();
    const worker = agent('worker', [{ types: ['Order'] }], []);
    const engines = { worker: { run: async () => null } };
    const catalog = new Catalog(['Order', 'WorkflowError'].map(anyObject), [worker]);
    const core = await startCore(catalog, engines, { leaseMs: LEASE_MS }, clock);
    try {
      const { reader } = core.unitOfWork;
      const correlationId = newId();
      const state = async (): Promise<string | undefined> => {
        const found = reader.selectFrom('executions').select('state').where('correlation_id', '=', correlationId);
        return (await found.executeTakeFirst())?.state;
      };
      await sql`delete from processes`.execute(reader);
      await core.publisher.publish({
        artifactId: newId(),
        correlationId,
        type: 'Order',
        payload: {},
        tags: [],
        partitionKey: null,
        visibility: { kind: 'Public' },
      });
      await core.unitOfWork.idle();
      expect(await state()).toBe('pending');
      clock.advance(LEASE_MS / 3);
      await eventually('it runs', async () => (await state()) === 'completed');
    } finally {
      await core.close();
    }
  });
});
