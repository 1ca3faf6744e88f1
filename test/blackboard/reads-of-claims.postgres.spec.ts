import { sql } from 'kysely';
import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { eventually } from '../support/eventually.js';
import { agent, anyObject, type Core, startCore } from './core.js';

const EXECUTIONS = 2_000;
const AT_ONCE = 40;
/** Of one execution, from the publish to its outcome. */
const MOST_READS = 10;

// Postgres counts itself. It has no statistics of tables that were empty a moment ago, and plans as if they still were.
describe(`${EXECUTIONS} executions on tables that were empty`, () => {
  let core: Core;
  let executed = 0;

  beforeAll(async () => {
    const worker = agent('worker', [{ types: ['Order'] }], ['Receipt'], { concurrency: AT_ONCE });
    const engine = { run: async () => void (executed += 1) };
    core = await startCore(new Catalog(['Order', 'Receipt'].map(anyObject), [worker]), { worker: engine });
  });

  afterAll(() => core.close());

  const publish = () =>
    core.blackboard.publish({ artifactId: newId(), correlationId: newId(), type: 'Order', payload: {}, tags: [], partitionKey: null, visibility: { kind: 'Public' } });

  async function artifactsRead(): Promise<number> {
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'artifacts'`.execute(core.unitOfWork.reader);
    return rows[0]!.read;
  }

  it('read no more artifacts than they have inputs, or a few times as many', async () => {
    for (let published = 0; published < EXECUTIONS; published += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, publish));
    await eventually('all were executed', () => executed >= EXECUTIONS);
    // A connection tells its counts some seconds after its last transaction.
    await eventually('what was read has been counted', async () => (await artifactsRead()) >= EXECUTIONS);
    expect(await artifactsRead()).toBeLessThan(EXECUTIONS * MOST_READS);
  }, 60_000);
});
