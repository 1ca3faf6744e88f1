import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';

import { MIGRATIONS } from '../../../src/database/migrations/migrate.js';
import { changeStored } from '../../faults/change-stored.js';
import { connected } from '../../support/postgres-cluster.js';
import type { Receiver } from '../../support/receiver.js';
import { migrateAt } from './migrate-at.js';
import type { Claim, WorkInFlight } from './work-in-flight.js';

const FOLDER = join(import.meta.dirname, 'dumps');

/** The names of the migrations of which there is a dump: the newest one of each release. */
export const DUMPS = readdirSync(FOLDER).map((file) => basename(file, '.sql'));

/** The receiver of the webhooks in a dump. */
const RECEIVER = 'http://127.0.0.1:9';

const CLAIM = '-- claim: ';

/** The tables in which a migration writes. */
const OF_MIGRATIONS = /^insert into "(?:kysely_\w+|program_versions|scheduler_locks)"/;

const pathOf = (migration: string): string => join(FOLDER, `${migration}.sql`);

/**
 * Writes a SQLite file as SQL, one statement on each line, under the name of its newest migration. The first line is a
 * comment with the claim, because a database does not have what an external worker was given.
 */
export function writeDump({ database, receiver, claim }: WorkInFlight): void {
  const connection = new DatabaseSync(database.url.slice('sqlite:'.length), { readOnly: true });
  try {
    const tables = connection
      .prepare(`select name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by rowid`)
      .all() as { name: string; sql: string }[];
    const rows = tables
      .filter(({ sql }) => /^create table/i.test(sql))
      .flatMap(({ name }) => insertsOf(connection, name))
      .map((line) => line.replaceAll(originOf(receiver), RECEIVER));
    const lines = [
      `${CLAIM}${JSON.stringify(claim)}`,
      ...[...tables.map(({ sql }) => sql), ...rows].map((one) => `${one};`),
    ];
    writeFileSync(pathOf(MIGRATIONS.at(-1)!.name), lines.map((line) => `${line}\n`).join(''));
  } finally {
    connection.close();
  }
}

function insertsOf(connection: DatabaseSync, table: string): string[] {
  return connection
    .prepare(`select * from "${table}"`)
    .all()
    .map((row) => {
      const columns = Object.keys(row).map((name) => `"${name}"`);
      return `insert into "${table}" (${columns.join(', ')}) values (${Object.values(row).map(literal).join(', ')})`;
    });
}

const literal = (value: SQLOutputValue): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** The statements that created the schema of a dump. */
export const schemaIn = (migration: string): string[] =>
  statementsIn(migration).filter((statement) => /^create /i.test(statement));

/** Fills an empty database with a dump. Postgres gets its schema from the migrations up to that of the dump. */
export async function restoreDump(migration: string, work: WorkInFlight): Promise<void> {
  work.claim = JSON.parse(linesOf(migration)[0]!.slice(CLAIM.length)) as Claim;
  const { url } = work.database;
  const receiver = originOf(work.receiver);
  const statements = statementsIn(migration).map((statement) => statement.replaceAll(RECEIVER, receiver));
  // A position of a deleted row is not assigned again.
  const rolledUp =
    'insert into sqlite_sequence select name, up_to_seq from rollups where name not in (select name from sqlite_sequence)';
  if (TEST_DATABASE === 'sqlite') return changeStored(url, ...statements, rolledUp);
  await migrateAt(
    url,
    MIGRATIONS.filter(({ name }) => name <= migration),
  );
  const rows = statements.filter((statement) => statement.startsWith('insert ') && !OF_MIGRATIONS.test(statement));
  await changeStored(url, ...rows);
  await connected(url, async (client) => {
    const { rows: positioned } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.columns where is_identity = 'YES' and table_schema = 'public'`,
    );
    for (const { name } of positioned)
      await client.query(`select setval(pg_get_serial_sequence('${name}', 'seq'), max(seq)) from ${name}`);
    await client.query(`
      select setval(pg_get_serial_sequence(name, 'seq'), up_to_seq) from rollups
      where up_to_seq > coalesce(pg_sequence_last_value(pg_get_serial_sequence(name, 'seq')::regclass), 0)`);
  });
}

const statementsIn = (migration: string): string[] =>
  linesOf(migration)
    .filter((line) => !line.startsWith('--'))
    .map((line) => line.slice(0, -1));

const linesOf = (migration: string): string[] => readFileSync(pathOf(migration), 'utf8').trimEnd().split('\n');

const originOf = (receiver: Receiver): string => new URL(receiver.url('/')).origin;
