import { sql } from 'kysely';

import { VERSION } from '../../../src/common/version.js';
import { MIGRATIONS } from '../../../src/database/migrations/migrate.js';
import type { NumberedMigration } from '../../../src/database/migrations/migration.js';
import { builtProgram } from '../../support/built-program.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { databaseOf, emptyDatabaseOf } from '../../support/database.js';
import type { Service } from '../../support/service.js';
import { DUMPS, restoreDump, writeDump } from './dump.js';
import { migrateAt } from './migrate-at.js';
import { IN_FLIGHT, WorkInFlight } from './work-in-flight.js';

/** A migration as the next version could bring it: a column with a value for the rows that exist, and an index. */
const NEXT: NumberedMigration = {
  name: '9999-next',
  oldestProgram: VERSION,
  async up(db) {
    await db.schema
      .alterTable('executions')
      .addColumn('team', 'text', (column) => column.notNull().defaultTo('new'))
      .execute();
    await sql`update executions set team = agent`.execute(db);
    await db.schema.createIndex('executions_by_team').on('executions').columns(['team', 'seq']).execute();
  },
};

/** Uses the built program as a process, real databases, HTTP on both sides and SIGKILL. Only the next migration is made up. */
describe('an upgrade with work in flight', () => {
  let folder: ConfigurationFolder;
  let work: WorkInFlight;
  let service: Service | undefined;

  beforeAll(() => builtProgram(), 180_000);

  beforeEach(() => (folder = new ConfigurationFolder()));

  afterEach(async () => {
    await service?.kill();
    await work.close();
    folder.remove();
  });

  it('finishes everything once when the process is killed and the database is migrated', async () => {
    work = await WorkInFlight.with(folder.path, await databaseOf(folder.path));
    service = await work.start();
    await work.accept(service);
    await service.kill('SIGKILL');
    expect(await work.inFlight()).toEqual(IN_FLIGHT);
    if (process.env.UPDATE_DUMP && TEST_DATABASE === 'sqlite') writeDump(work);

    expect(await migrateAt(work.database.url, [...MIGRATIONS, NEXT])).toEqual([NEXT.name]);
    service = await work.start();
    await work.finish(service);
    expect(await work.breaches()).toEqual([]);
    const teams = await work.database.rows("select distinct team from executions where agent = 'worker'");
    expect(teams).toEqual([{ team: 'worker' }]);
    expect(await service.kill('SIGTERM')).toBe(0);
  });

  it.each(DUMPS)('finishes everything once in a database that a version with the schema %s left', async (migration) => {
    work = await WorkInFlight.with(folder.path, await emptyDatabaseOf(folder.path));
    await restoreDump(migration, work);
    expect(await work.inFlight()).toEqual(IN_FLIGHT);
    service = await work.start();
    await work.finish(service);
    expect(await work.breaches()).toEqual([]);
    await checkActivity(service);
    expect(await service.kill('SIGTERM')).toBe(0);
  });

  /** Its counts leave out executions that ended before the upgrade. */
  async function checkActivity({ url }: Service): Promise<void> {
    const response = await fetch(`${url}/api/v1/activity?window=7d`);
    const { since, total } = (await response.json()) as { since: string; total: { ends: number } };
    const ended = `select id from executions where state in ('completed', 'failed') and ended_at`;
    expect(await work.database.rows(`${ended} < ${Date.parse(since)}`)).toHaveLength(2);
    expect(await work.database.rows(`${ended} >= ${Date.parse(since)}`)).toHaveLength(total.ends);
  }
});
