import { sql } from 'kysely';

import { VERSION } from '../../src/common/version.js';
import { SQLITE } from '../../src/database/dialects/dialect.js';
import { migrate, MIGRATIONS } from '../../src/database/migrations/migrate.js';
import type { NumberedMigration } from '../../src/database/migrations/migration.js';
import { StartError } from '../../src/database/start-error.js';
import { runProgram } from '../cli/run-program.js';
import { OF_EARLIER_BUILD, RECORDS_OF_EARLIER_BUILD } from './earlier-build.js';
import { Files } from './files.js';
import { DUMPS, schemaIn } from './upgrade/dump.js';

/** A step after all existing ones, as a newer program would add it. */
const later = (parts: Partial<NumberedMigration> = {}): NumberedMigration => ({
  name: '9999-later',
  oldestProgram: VERSION,
  up: async (db) => {
    await db.schema
      .alterTable('rollups')
      .addColumn('note', 'text', (column) => column.notNull().defaultTo('none'))
      .execute();
  },
  ...parts,
});

const [major, minor, patch] = VERSION.split('.').map(Number) as [number, number, number];

// Uses files on disk; only the later step, which no program has yet, is made up.
describe('migrations of a SQLite file', () => {
  const files = new Files();
  const ours = MIGRATIONS.map(({ name }) => name);

  afterAll(() => files.clear());

  const freshWriter = () => files.open(files.path()).writer;
  const schemaOf = async (db: ReturnType<typeof freshWriter>) =>
    (
      await sql<{
        sql: string;
      }>`select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by name`.execute(db)
    ).rows.map((row) => row.sql);

  it('create the whole schema from empty, and do nothing the second time', async () => {
    const db = freshWriter();
    expect(await migrate(db, SQLITE)).toEqual(ours);
    const schema = await schemaOf(db);
    expect(schema.join('\n')).toMatch(/create table "artifacts"/i);

    expect(await migrate(db, SQLITE)).toEqual([]);
    expect(await schemaOf(db)).toEqual(schema);
    expect(await db.selectFrom('program_versions').select(['migration', 'oldest_program']).execute()).toEqual(
      MIGRATIONS.map(({ name, oldestProgram }) => ({ migration: name, oldest_program: oldestProgram })),
    );
  });

  it.each(DUMPS)('create the same schema as when %s was released', async (name) => {
    const db = freshWriter();
    const upToThis = MIGRATIONS.filter((migration) => migration.name <= name);
    await migrate(db, SQLITE, upToThis);
    expect((await schemaOf(db)).toSorted()).toEqual(schemaIn(name).toSorted());
  });

  it.each([
    ['with other migrations', RECORDS_OF_EARLIER_BUILD],
    ['without recorded migrations', ['drop table program_versions', 'drop table kysely_migration']],
  ])(
    'refuse a database of an earlier build %s with one line that says what to do, and do not change it',
    async (_, changes) => {
      const path = files.path();
      const database = files.open(path);
      await migrate(database.writer, SQLITE);
      for (const change of changes) await sql.raw(change).execute(database.writer);
      const schema = await schemaOf(database.writer);
      await expect(migrate(database.writer, SQLITE)).rejects.toThrow(new StartError(OF_EARLIER_BUILD));
      expect(await schemaOf(database.writer)).toEqual(schema);
      await database.close();

      const { code, stderr } = await runProgram(['migrate', '--database-url', `sqlite:${path}`]);
      expect({ code, stderr }).toEqual({ code: 1, stderr: `${OF_EARLIER_BUILD}\n` });
    },
  );

  it('leave an up-to-date file unchanged whenever it is opened again', async () => {
    const path = files.path();
    for (const expected of [ours, [], []]) {
      const database = files.open(path);
      expect(await migrate(database.writer, SQLITE)).toEqual(expected);
      await database.close();
    }
  });

  it('are run by one process at a time: a second one on the file is refused', async () => {
    const path = files.path();
    const database = files.open(path);
    const refusal = `database_url: ${path} is in use by another starling process; stop it, or choose another database with --database-url sqlite:<path>`;
    expect(() => files.open(path)).toThrow(new StartError(refusal));

    const { code, stdout, stderr } = await runProgram(['migrate', '--database-url', `sqlite:${path}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(refusal);
    expect(await schemaOf(database.writer)).toEqual([]);
  });

  it('run once if processes start together on an empty file', async () => {
    const path = files.path();
    const ends = await Promise.all(
      Array.from({ length: 4 }, () => runProgram(['migrate', '--database-url', `sqlite:${path}`])),
    );
    for (const { code, stderr } of ends)
      expect(code === 0 || stderr.includes('is in use by another starling process')).toBe(true);
    expect(ends.some(({ code }) => code === 0)).toBe(true);

    const made = files.open(path).writer;
    const alone = freshWriter();
    await migrate(alone, SQLITE);
    expect(await schemaOf(made)).toEqual(await schemaOf(alone));
  });

  it('keep the data in the file', async () => {
    const db = freshWriter();
    await migrate(db, SQLITE);
    await db.insertInto('rollups').values({ name: 'artifact_counts', up_to_seq: 12 }).execute();

    expect(await migrate(db, SQLITE, [...MIGRATIONS, later()])).toEqual(['9999-later']);
    expect(await db.selectFrom('rollups').selectAll().execute()).toEqual([
      { name: 'artifact_counts', up_to_seq: 12, note: 'none' },
    ]);
    expect(await migrate(db, SQLITE, [...MIGRATIONS, later()])).toEqual([]);
  });

  it('that fail halfway leave nothing behind, and can be run again', async () => {
    const db = freshWriter();
    await migrate(db, SQLITE);
    const before = {
      schema: await schemaOf(db),
      versions: await db.selectFrom('program_versions').selectAll().execute(),
    };
    const half = later({
      up: async (db) => {
        await db.schema.alterTable('rollups').addColumn('note', 'text').execute();
        await db.schema.createTable('half').addColumn('id', 'integer').execute();
        throw new Error('no further');
      },
    });

    await expect(migrate(db, SQLITE, [...MIGRATIONS, half])).rejects.toThrow('no further');
    expect({
      schema: await schemaOf(db),
      versions: await db.selectFrom('program_versions').selectAll().execute(),
    }).toEqual(before);
    expect(await migrate(db, SQLITE, [...MIGRATIONS, later()])).toEqual(['9999-later']);
  });

  it('undo the steps before a failing one too', async () => {
    const db = freshWriter();
    const failing = later({ up: () => Promise.reject(new Error('no further')) });
    await expect(migrate(db, SQLITE, [...MIGRATIONS, failing])).rejects.toThrow('no further');
    expect((await schemaOf(db)).join('\n')).not.toMatch(/"artifacts"/);
    expect(await migrate(db, SQLITE)).toEqual(ours);
  });

  it.each([`${major + 1}.0.0`, `${major}.${minor + 1}.0`, `${major}.${minor}.${patch + 1}`])(
    'of a newer program whose schema needs %s stop this one with one clear line, and change nothing',
    async (needed) => {
      const db = freshWriter();
      await migrate(db, SQLITE, [...MIGRATIONS, later({ oldestProgram: needed })]);
      const schema = await schemaOf(db);
      await expect(migrate(db, SQLITE)).rejects.toThrow(
        new StartError(
          `the database was migrated for starling ${needed} or later (9999-later); this is ${VERSION}: install the newer one`,
        ),
      );
      expect(await schemaOf(db)).toEqual(schema);
    },
  );

  it('of a newer program whose schema this one may still use do not stop it', async () => {
    const db = freshWriter();
    await migrate(db, SQLITE, [...MIGRATIONS, later()]);
    expect(await migrate(db, SQLITE)).toEqual([]);
    await db.insertInto('rollups').values({ name: 'ours', up_to_seq: 1 }).execute();
    expect(await db.selectFrom('rollups').selectAll().execute()).toEqual([
      { name: 'ours', up_to_seq: 1, note: 'none' },
    ]);
  });

  it('of a newer program stop the command with that line', async () => {
    const path = files.path();
    const database = files.open(path);
    await migrate(database.writer, SQLITE, [...MIGRATIONS, later({ oldestProgram: `${major + 1}.0.0` })]);
    await database.close();
    const { code, stderr } = await runProgram(['migrate', '--database-url', `sqlite:${path}`]);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('install the newer one')]);
  });
});
