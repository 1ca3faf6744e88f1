import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

import { VERSION } from '../../src/common/version.js';
import { POSTGRES } from '../../src/database/dialects/dialect.js';
import { migrate, MIGRATIONS } from '../../src/database/migrations/migrate.js';
import type { NumberedMigration } from '../../src/database/migrations/migration.js';
import { openDatabase } from '../../src/database/open-database.js';
import type { Schema } from '../../src/database/schema.js';
import { StartError } from '../../src/database/start-error.js';
import { Folder, runProgram } from '../cli/run-program.js';
import { StartedProgram } from '../cli/started-program.js';
import { Board } from '../e2e/board.js';
import { Replicas } from '../e2e/replica-boards.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { connected, queryOnce } from '../support/postgres-cluster.js';
import { OF_EARLIER_BUILD, RECORDS_OF_EARLIER_BUILD } from './earlier-build.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  pairer:
    consumes: [{ types: [Left, Right] }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"n": payload.Left.n}' }
`;

const ours = MIGRATIONS.map(({ name }) => name);
const nextMajor = `${Number(VERSION.split('.')[0]) + 1}.0.0`;

/** A step after all existing ones, as a newer program would add it. */
const later = (parts: Partial<NumberedMigration> = {}): NumberedMigration => ({
  name: '9999-later',
  oldestProgram: VERSION,
  up: (db) => addNote(db, 'rollups'),
  ...parts,
});

const addNote = (db: Kysely<unknown>, table: string): Promise<void> =>
  db.schema
    .alterTable(table)
    .addColumn('note', 'text', (column) => column.notNull().defaultTo('none'))
    .execute();

/**
 * Uses databases of a Postgres server, and the program as a process. Only the later step, which no program has yet, is
 * made up.
 */
describe('migrations of a Postgres database', () => {
  const names: string[] = [];
  const pools: pg.Pool[] = [];

  beforeAll(() => builtProgram(), 180_000);

  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    for (const name of names)
      await queryOnce(process.env.TEST_DATABASE_URL!, `drop database if exists ${name} with (force)`);
  });

  /** Creates an empty database and returns its URL. */
  async function empty(): Promise<string> {
    const name = `${process.env.STARLING_TEST_RUN}_migrations_${names.length}`;
    names.push(name);
    await queryOnce(process.env.TEST_DATABASE_URL!, `create database ${name}`);
    return Object.assign(new URL(process.env.TEST_DATABASE_URL!), { pathname: name }).href;
  }

  function kyselyOn(url: string): Kysely<Schema> {
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    // Closed with its database.
    pool.on('error', () => undefined);
    pools.push(pool);
    return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  }

  const open = async (url: string): Promise<void> => (await openDatabase(url)).close();

  /** Returns tables with their settings, columns, indexes and sequences, as texts. */
  async function schemaOf(url: string): Promise<string[]> {
    const parts = await queryOnce<{ part: string }>(
      url,
      `select concat_ws(' ', 'table', relname, reloptions::text) as part from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
       union all select concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default, is_identity) from information_schema.columns where table_schema = 'public'
       union all select indexdef from pg_indexes where schemaname = 'public'
       union all select concat_ws(' ', 'sequence', sequencename, data_type) from pg_sequences where schemaname = 'public'
       order by 1`,
    );
    return parts.map(({ part }) => part);
  }

  const versionsOf = (url: string) =>
    queryOnce(url, 'select migration, oldest_program from program_versions order by 1');

  const serveOn = (url: string): string[] => ['--database-url', url, ...configured()];
  const configured = (): string[] => ['--config', folder.write('starling.yaml', CONFIG)];
  const folder = new Folder();
  afterAll(() => folder.remove());

  it('create the whole schema from empty, and do nothing the second time', async () => {
    const [url, other] = [await empty(), await empty()];
    expect(await migrate(kyselyOn(url), POSTGRES)).toEqual(ours);
    const schema = await schemaOf(url);
    expect(schema).toContainEqual(expect.stringMatching(/^table artifacts/));
    expect(await versionsOf(url)).toEqual(
      MIGRATIONS.map(({ name, oldestProgram }) => ({ migration: name, oldest_program: oldestProgram })),
    );

    expect(await migrate(kyselyOn(url), POSTGRES)).toEqual([]);
    await open(url);
    expect(await schemaOf(url)).toEqual(schema);
    await open(other);
    expect(await schemaOf(other)).toEqual(schema);
  });

  it('run once if twenty start together on an empty database', async () => {
    const [url, alone] = [await empty(), await empty()];
    await Promise.all(Array.from({ length: 20 }, () => open(url)));
    await open(alone);
    expect(await schemaOf(url)).toEqual(await schemaOf(alone));
    expect(await versionsOf(url)).toEqual(await versionsOf(alone));
  });

  it('run once if commands start together on an empty database', async () => {
    const [url, alone] = [await empty(), await empty()];
    const ends = await Promise.all(
      Array.from({ length: 4 }, () => runProgram(['migrate'], { env: { DATABASE_URL: url } })),
    );
    for (const { code, stdout, stderr } of ends)
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/ is up to date\n$/),
        stderr: '',
      });
    await open(alone);
    expect(await schemaOf(url)).toEqual(await schemaOf(alone));
  });

  it.each([
    ['with other migrations', RECORDS_OF_EARLIER_BUILD],
    ['without recorded migrations', ['drop table program_versions', 'drop table kysely_migration']],
  ])(
    'refuse a database of an earlier build %s with one line that says what to do, and do not change it',
    async (_, changes) => {
      const url = await empty();
      await open(url);
      for (const change of changes) await queryOnce(url, change);
      const schema = await schemaOf(url);
      await expect(openDatabase(url)).rejects.toThrow(new StartError(OF_EARLIER_BUILD));
      expect(await schemaOf(url)).toEqual(schema);
      const { code, stderr } = await runProgram(['migrate'], { env: { DATABASE_URL: url } });
      expect({ code, stderr }).toEqual({ code: 1, stderr: `${OF_EARLIER_BUILD}\n` });
    },
  );

  it('that fail halfway leave nothing behind, and can be run again', async () => {
    const url = await empty();
    await open(url);
    const before = [await schemaOf(url), await versionsOf(url)];
    const half = later({
      up: async (db) => {
        await db.schema.createTable('half').addColumn('id', 'integer').execute();
        throw new Error('no further');
      },
    });
    await expect(migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, half])).rejects.toThrow('no further');
    expect([await schemaOf(url), await versionsOf(url)]).toEqual(before);
    expect(await migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, later()])).toEqual(['9999-later']);
  });

  it('that deadlock with a running program are run again', async () => {
    const url = await empty();
    await open(url);
    let tries = 0;
    const both = later({
      up: async (db) => {
        tries += 1;
        await addNote(db, 'executions');
        await addNote(db, 'artifacts');
      },
    });
    // Postgres aborts the session that detects the deadlock first: the migration, on any machine.
    await queryOnce(url, `alter database "${new URL(url).pathname.slice(1)}" set deadlock_timeout = '2s'`);
    await connected(url, async (client) => {
      await client.query(`set deadlock_timeout = '1min'`);
      await client.query('begin');
      await client.query('lock table artifacts in share mode');
      const migrated = migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, both]);
      const waiting = `select 1 from pg_locks where not granted and relation = 'artifacts'::regclass`;
      await eventually('the migration waits', async () => (await queryOnce(url, waiting)).length > 0);
      await client.query('lock table executions in share mode');
      await client.query('commit');
      expect(await migrated).toEqual(['9999-later']);
    });
    expect(tries).toBe(2);
  });

  describe('of a newer program', () => {
    const refusal = `the database was migrated for starling ${nextMajor} or later (9999-later); this is ${VERSION}: install the newer one`;

    it('stop the start with one clear line if this program is too old for the schema, and change nothing', async () => {
      const url = await empty();
      await migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, later({ oldestProgram: nextMajor })]);
      const schema = await schemaOf(url);
      await expect(openDatabase(url)).rejects.toThrow(new StartError(refusal));
      const env = { DATABASE_URL: url };
      const ends = await Promise.all([
        runProgram(['migrate'], { env }),
        runProgram(['serve', '--port', '0', ...configured()], { env }),
        runProgram(['worker', '--port', '0', ...configured()], { env }),
      ]);
      for (const { code, stderr } of ends) expect({ code, stderr }).toEqual({ code: 1, stderr: `${refusal}\n` });
      expect(await schemaOf(url)).toEqual(schema);
    });

    it.each([[['serve']], [['serve', '--no-worker']], [['worker']]])(
      'stop a running %j with one clear line if it is too old for the schema',
      async (command) => {
        const url = await empty();
        const program = await StartedProgram.start([...command, '--port', '0', ...serveOn(url)]);
        try {
          await eventually('the service serves', () => /"msg":"(serving|working)"/.test(program.stdout));
          await migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, later({ oldestProgram: nextMajor })]);
          expect(await program.ended).toBe(0);
          const lines = program.stdout
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as { level: unknown; msg: string });
          const whys = lines.filter(({ msg }) => msg.includes(nextMajor));
          expect(whys.map(({ msg }) => msg)).toEqual([`${refusal}; stopping`]);
          expect(lines.at(-1)!.msg).toBe('stopped');
        } finally {
          program.process.kill('SIGKILL');
        }
      },
    );

    it('let the program serve under load without a failed request if it may still use the schema', async () => {
      const replicas = new Replicas();
      try {
        const boards: Board[] = [];
        for (let n = 0; n < 2; n += 1) boards.push(await replicas.start(CONFIG));
        const { url } = boards[0]!.app.database;
        let isOver = false;
        const ids: string[] = [];
        const client = async (board: Board): Promise<void> => {
          while (!isOver) {
            const { completed, artifacts } = await board.publishSync('Message', { n: ids.length });
            expect([completed, artifacts.map(({ type }) => type)]).toEqual([true, ['Echo']]);
            const id = await board.publish('Left', { n: 1 });
            await board.publish('Right', { n: 1 }, { correlation: id });
            ids.push(id);
            await Promise.all(
              [
                '/api/v1/artifacts?limit=5',
                '/api/v1/runs?limit=5',
                '/metrics',
                `/api/v1/correlations/${id}/status`,
              ].map((path) => board.http.get(path).expect(200)),
            );
          }
        };
        const clients = Promise.all(boards.flatMap((board) => [client(board), client(board), client(board)]));
        // The test reports a failure below; until then it must not be an unhandled rejection.
        clients.catch(() => (isOver = true));
        try {
          const steps: NumberedMigration[] = [];
          for (const table of ['artifacts', 'executions', 'correlations', 'join_arrivals', 'runs']) {
            const served = ids.length;
            await eventually('requests come in', () => isOver || ids.length > served + 10);
            const name = `999${steps.length}-${table}`;
            steps.push(later({ name, up: (db) => addNote(db, table) }));
            expect(await migrate(kyselyOn(url), POSTGRES, [...MIGRATIONS, ...steps])).toEqual([name]);
          }
          const served = ids.length;
          await eventually('requests go on', () => isOver || ids.length > served + 30);
        } finally {
          isOver = true;
        }
        await clients;
        for (const id of ids)
          expect(await boards[0]!.ended(id)).toMatchObject({ state: 'completed', artifact_count: 3 });
        expect(boards.flatMap(({ app }) => app.logLines.filter(({ level }) => Number(level) >= 50))).toEqual([]);
        expect(await queryOnce(url, `select distinct state from executions`)).toEqual([{ state: 'completed' }]);
      } finally {
        await replicas.close();
      }
    });
  });
});
