import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';

// Released migrations use these functions. One that changes would create another schema in new databases than in
// migrated ones, so add a function instead.

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

export const required: Column = (column) => column.notNull();

/** A number that starts at zero, such as a count, or a boolean that starts as false. */
export const fromZero: Column = (column) => column.notNull().defaultTo(0);

export const primaryKey: Column = (column) => column.primaryKey().notNull();

/** Begins a table whose primary key is `seq`, a position that the database assigns in increasing order. */
export function positionedTable(
  db: Kysely<unknown>,
  dialect: Dialect,
  table: string,
): CreateTableBuilder<string, 'seq'> {
  const created = db.schema.createTable(table);
  if (dialect.name === 'postgres')
    return created.addColumn('seq', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity());
  // Only INTEGER PRIMARY KEY is the rowid. AUTOINCREMENT never assigns a deleted position again.
  return created.addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement());
}

/** Creates the numbers of claims. In SQLite only one process claims, which needs no numbers. */
export async function createClaimNumbers(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect.name === 'postgres') await sql`create sequence execution_claims`.execute(db);
}

/**
 * Configures a table whose rows often change their state, or are inserted and deleted, and are searched by it. Vacuum
 * and analyse run after a few thousand changes, not after a fifth of the whole history has changed, and vacuum does not
 * pause: a plan that was made for an empty table is bad for a full one. SQLite needs nothing of this.
 */
export async function prepareForChurn(db: Kysely<unknown>, dialect: Dialect, table: string): Promise<void> {
  if (dialect.name === 'sqlite') return;
  const settings =
    'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0';
  await sql`alter table ${sql.table(table)} set (${sql.raw(settings)})`.execute(db);
}
