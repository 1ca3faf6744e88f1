import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/** Their rows are found by the primary key, and have no position. */
const TABLES = ['artifact_tags', 'execution_inputs', 'consumptions'];

/**
 * Removes an index that no query uses, and stores the rows of some tables in the trees of their primary keys: a workflow
 * then writes fewer pages.
 */
export const fewerTrees: NumberedMigration = {
  name: '0044-fewer-trees',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema.dropIndex('consumptions_by_execution').execute();
    // Postgres stores every table apart from its keys.
    if (dialect.name === 'sqlite') for (const table of TABLES) await storeInPrimaryKey(db, table);
  },
};

/** SQLite cannot change how a table is stored, so the table is made again. */
async function storeInPrimaryKey(db: Kysely<unknown>, name: string): Promise<void> {
  const { rows } = await sql<{ type: string; sql: string }>`
    select type, sql from sqlite_schema where tbl_name = ${name} and sql is not null`.execute(db);
  const table = rows.find(({ type }) => type === 'table')!;
  const { rows: keys } = await sql<{ name: string }>`
    select name from pragma_table_info(${name}) where pk > 0 order by pk`.execute(db);
  const before = `${name}_with_rowids`;
  await sql`alter table ${sql.table(name)} rename to ${sql.table(before)}`.execute(db);
  await sql.raw(`${table.sql} without rowid`).execute(db);
  await sql`
    insert into ${sql.table(name)} select * from ${sql.table(before)}
    order by ${sql.join(keys.map((key) => sql.ref(key.name)))}`.execute(db);
  await sql`drop table ${sql.table(before)}`.execute(db);
  for (const index of rows.filter(({ type }) => type === 'index')) await sql.raw(index.sql).execute(db);
}
