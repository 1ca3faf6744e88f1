import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';

import { VERSION } from '../../common/version.js';
import type { Dialect } from '../dialects/dialect.js';
import { wasGivenUp } from '../dialects/postgres-errors.js';
import type { Schema } from '../schema.js';
import { StartError } from '../start-error.js';
import { initialSchema } from './0001-initial-schema.js';
import { correlationLists } from './0002-correlation-lists.js';
import { activityCounts } from './0003-activity-counts.js';
import { failureGroups } from './0004-failure-groups.js';
import { waitingByCorrelation } from './0005-waiting-by-correlation.js';
import { operations } from './0006-operations.js';
import { webhookTargets } from './0007-webhook-targets.js';
import { correlationsByState } from './0008-correlations-by-state.js';
import { correlationsOfRuns } from './0009-correlations-of-runs.js';
import { errorDetails } from './0010-error-details.js';
import { schedules } from './0011-schedules.js';
import { definitions } from './0012-definitions.js';
import { limits } from './0013-limits.js';
import { limitValues } from './0014-limit-values.js';
import { oneValueAColumn } from './0015-one-value-a-column.js';
import { replays } from './0016-replays.js';
import { fairness } from './0017-fairness.js';
import { cancelOn } from './0018-cancel-on.js';
import { cachedAnswers } from './0019-cached-answers.js';
import { singletons } from './0020-singletons.js';
import { breakers } from './0021-breakers.js';
import { debounce } from './0022-debounce.js';
import { heldLimits } from './0023-held-limits.js';
import { experiments } from './0024-experiments.js';
import { variants } from './0025-variants.js';
import { forgottenBreakers } from './0026-forgotten-breakers.js';
import { replayConfigurations } from './0027-replay-configurations.js';
import { deferredLeases } from './0028-deferred-leases.js';
import { burstsOfRates } from './0029-bursts-of-rates.js';
import { claimsByConfiguration } from './0030-claims-by-configuration.js';
import { executionsByConfiguration } from './0031-executions-by-configuration.js';
import { virtualTime } from './0032-virtual-time.js';
import { fairIndex } from './0033-fair-index.js';
import { fairLines } from './0034-fair-lines.js';
import { unitsOfRates } from './0035-units-of-rates.js';
import { keptPlaces } from './0036-kept-places.js';
import { unblocked } from './0037-unblocked.js';
import { countedTurns } from './0038-counted-turns.js';
import { turnsBetweenLines } from './0039-turns-between-lines.js';
import { takenBackExecutions } from './0040-taken-back-executions.js';
import { endedVersions } from './0041-ended-versions.js';
import { abandonedGroups } from './0042-abandoned-groups.js';
import { endedAnswers } from './0043-ended-answers.js';
import { fewerTrees } from './0044-fewer-trees.js';
import type { NumberedMigration } from './migration.js';

const MOST_TRIES = 10;

/** In the order of their names. A released migration does not change any more. */
export const MIGRATIONS: readonly NumberedMigration[] = [
  initialSchema,
  correlationLists,
  activityCounts,
  failureGroups,
  waitingByCorrelation,
  operations,
  webhookTargets,
  correlationsByState,
  correlationsOfRuns,
  errorDetails,
  schedules,
  definitions,
  limits,
  limitValues,
  oneValueAColumn,
  replays,
  fairness,
  cancelOn,
  cachedAnswers,
  singletons,
  breakers,
  debounce,
  heldLimits,
  experiments,
  variants,
  forgottenBreakers,
  replayConfigurations,
  deferredLeases,
  burstsOfRates,
  claimsByConfiguration,
  executionsByConfiguration,
  virtualTime,
  fairIndex,
  fairLines,
  unitsOfRates,
  keptPlaces,
  unblocked,
  countedTurns,
  turnsBetweenLines,
  takenBackExecutions,
  endedVersions,
  abandonedGroups,
  endedAnswers,
  fewerTrees,
];

/**
 * Migrates the schema to this version, under Kysely's migration lock and in one transaction. Returns the names of the
 * migrations that ran. Throws StartError if a newer version has made the schema incompatible, or if an unreleased build
 * made it, whose schema cannot be migrated. Tests give `migrations` that do not exist yet.
 */
export async function migrate(db: Kysely<Schema>, dialect: Dialect, migrations = MIGRATIONS): Promise<string[]> {
  await refuseEarlierBuild(db, dialect);
  await recordVersions(db);
  const recorded = await refuseNewerSchema(db);
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

/**
 * Refuses tables that no migration of this list made. Builds before the first release changed the schema without
 * migrations, or with others.
 */
async function refuseEarlierBuild(db: Kysely<Schema>, dialect: Dialect): Promise<void> {
  if (!(await hasTable(db, dialect, 'artifacts')) || (await hasInitialSchema(db, dialect))) return;
  throw new StartError(
    'an earlier build of starling or another program made the tables of this database; use an empty database, or that build',
  );
}

async function hasInitialSchema(db: Kysely<Schema>, dialect: Dialect): Promise<boolean> {
  if (!(await hasTable(db, dialect, 'program_versions'))) return false;
  const recorded = db.selectFrom('program_versions').select('migration').where('migration', '=', initialSchema.name);
  return (await recorded.executeTakeFirst()) !== undefined;
}

async function hasTable(db: Kysely<Schema>, dialect: Dialect, table: keyof Schema): Promise<boolean> {
  const found =
    dialect.name === 'sqlite'
      ? sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      : sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${table}`;
  return (await found.execute(db)).rows.length > 0;
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
