// node seed.ts <database url> <artifacts>: writes a history into the program's schema as publishing would have written
// it. The server that opens the database rolls up the counts.
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import pg from 'pg';

import { partOf, type Rows } from './history.ts';

const { openDatabase } = (await import(
  new URL('../dist/database/open-database.js', import.meta.url).href
)) as typeof import('../src/database/open-database.js');

const IN_ONE_TRANSACTION = 20_000;

const url = process.argv[2]!;
const artifacts = Number(process.argv[3]);

/** Writes rows in one transaction. */
type Write = (rows: Rows) => Promise<void>;

// It migrates; then the file belongs to the connection here.
await (await openDatabase(url)).close();
await (url.startsWith('sqlite:') ? intoSqlite : intoPostgres)(async (write) => {
  for (let from = 0; from < artifacts; from += IN_ONE_TRANSACTION) {
    await write(partOf(artifacts, from, Math.min(from + IN_ONE_TRANSACTION, artifacts)));
  }
});

async function intoSqlite(seed: (write: Write) => Promise<void>): Promise<void> {
  const connection = new DatabaseSync(url.slice('sqlite:'.length));
  const inserts = new Map<string, StatementSync>();
  const insertInto = (table: string, columns: string[]): StatementSync => {
    if (!inserts.has(table))
      inserts.set(
        table,
        connection.prepare(`insert into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`),
      );
    return inserts.get(table)!;
  };
  await seed(async (rows) => {
    connection.exec('begin');
    for (const [table, some] of Object.entries(rows)) {
      for (const row of some) insertInto(table, Object.keys(row)).run(...Object.values(row));
    }
    connection.exec('commit');
  });
  connection.close();
}

async function intoPostgres(seed: (write: Write) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set synchronous_commit to off');
  await seed(async (rows) => {
    await client.query('begin');
    for (const [table, some] of Object.entries(rows)) {
      if (some.length === 0) continue;
      const columns = Object.keys(some[0]!).join();
      await client.query(
        `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(some)],
      );
    }
    await client.query('commit');
  });
  // Continues the positions behind those that were assigned here. The vacuum that runs in the background of a service
  // is done here immediately.
  for (const table of ['artifacts', 'correlations'])
    await client.query(`select setval(pg_get_serial_sequence('${table}', 'seq'), (select max(seq) from ${table}))`);
  await client.query('vacuum (analyze)');
  await client.end();
}
