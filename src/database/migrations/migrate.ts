import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';

import { VERSION } from '../../common/version.js';
import type { Dialect } from '../dialects/dialect.js';
import { wasGivenUp } from '../dialects/postgres-errors.js';
import type { Schema } from '../schema.js';
import { StartError } from '../start-error.js';
import { core } from './0001-core.js';
import { runsAndBatches } from './0002-runs-and-batches.js';
import { replicas } from './0003-replicas.js';
import { webhooks } from './0004-webhooks.js';
import { takingPart } from './0005-taking-part.js';
import { retention } from './0006-retention.js';
import { tracing } from './0007-tracing.js';
import { reasons } from './0008-reasons.js';
import { usage } from './0009-usage.js';
import { failingTargets } from './0010-failing-targets.js';
import { external } from './0011-external.js';
import { assigned } from './0012-assigned.js';
import { toolCalls } from './0013-tool-calls.js';
import { failingTimers } from './0014-failing-timers.js';
import { deletedUsage } from './0015-deleted-usage.js';
import { changedConfigurations } from './0016-changed-configurations.js';
import { budgetReservations } from './0017-budget-reservations.js';
import { answerPieces } from './0018-answer-pieces.js';
import { reservedCalls } from './0019-reserved-calls.js';
import { storedBytes } from './0020-stored-bytes.js';
import type { NumberedMigration } from './migration.js';

const MOST_TRIES = 10;

export const MIGRATIONS: readonly NumberedMigration[] = [
  core,
  runsAndBatches,
  replicas,
  webhooks,
  takingPart,
  retention,
  tracing,
  reasons,
  usage,
  failingTargets,
  external,
  assigned,
  toolCalls,
  failingTimers,
  deletedUsage,
  changedConfigurations,
  budgetReservations,
  answerPieces,
  reservedCalls,
  storedBytes,
];

/**
 * Migrates the schema to this version, under Kysely's migration lock and in one transaction. Returns the names of the
 * migrations that ran. Throws StartError if a newer version has made the schema incompatible, or if an unreleased build
 * made it, whose schema cannot be migrated.
 */
export async function migrate(db: Kysely<Schema>, dialect: Dialect, migrations = MIGRATIONS): Promise<string[]> {
  await recordVersions(db);
  const recorded = await refuseNewerSchema(db);
  refuseEarlierBuild(recorded, migrations);
  const known = new Set(migrations.map(({ name }) => name));
  // A newer version has migrated the schema and declares this one compatible, so there is nothing to do.
  if (recorded.some(({ migration }) => !known.has(migration))) return [];

  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(migrations.map((migration) => [migration.name, withVersion(migration, dialect)])),
    },
  });
  for (let tries = 1; ; tries += 1) {
    const { error, results } = await migrator.migrateToLatest();
    if (!error) return (results ?? []).map(({ migrationName }) => migrationName);
    // Older versions still use the tables meanwhile. The two can deadlock, and then nothing was done.
    if (!wasGivenUp(error) || tries === MOST_TRIES) throw error;
  }
}

/** Refuses a database of an unreleased build: before the first release, the schema changed without migrations. */
function refuseEarlierBuild(
  recorded: readonly { migration: string }[],
  migrations: readonly NumberedMigration[],
): void {
  const first = migrations[0]!.name;
  if (recorded.length === 0 || recorded.some(({ migration }) => migration === first)) return;
  throw new StartError(
    'an earlier build of starling made this database, and this version cannot read it; use an empty database, or that build',
  );
}

const withVersion = (migration: NumberedMigration, dialect: Dialect) => ({
  async up(db: Kysely<Schema>): Promise<void> {
    await migration.up(db as unknown as Kysely<unknown>, dialect);
    await db
      .insertInto('program_versions')
      .values({ migration: migration.name, oldest_program: migration.oldestProgram })
      .execute();
  },
});

async function recordVersions(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('program_versions')
    .ifNotExists()
    .addColumn('migration', 'text', (column) => column.primaryKey())
    .addColumn('oldest_program', 'text', (column) => column.notNull())
    .addColumn('migrated_at', 'text', (column) => column.notNull().defaultTo(sql`current_timestamp`))
    .execute();
}

/** Returns the recorded migrations. Throws StartError if one of them needs a newer version than this one. */
export async function refuseNewerSchema(db: Kysely<Schema>): Promise<{ migration: string }[]> {
  const recorded = await db.selectFrom('program_versions').selectAll().execute();
  const blocking = recorded.find(
    ({ oldest_program }) => VERSION.localeCompare(oldest_program, 'en', { numeric: true }) < 0,
  );
  if (blocking) {
    throw new StartError(
      `the database was migrated for starling ${blocking.oldest_program} or later (${blocking.migration}); this is ${VERSION}: install the newer one`,
    );
  }
  return recorded;
}
