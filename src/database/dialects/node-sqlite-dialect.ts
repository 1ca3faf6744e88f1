import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type CompiledQuery, SqliteAdapter, SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely';
import type { DirectAdapter } from '../prepared.js';
import { type DialectAdapter, SQLITE } from './dialect.js';

// Lists of values make new SQL texts (`in (?, ?, ...)`); without a bound the cache would grow with them.
const CACHED_STATEMENTS = 500;

class Adapter extends SqliteAdapter implements DirectAdapter, DialectAdapter {
  readonly starlingDialect = SQLITE;
  readonly compiledFor = this;

  constructor(private readonly database: CachingDatabase) {
    super();
  }

  runDirectly({ sql }: CompiledQuery, parameters: readonly unknown[]): unknown[] {
    const statement = this.database.prepare(sql);
    if (statement.reader) return statement.all(parameters);
    statement.run(parameters);
    return [];
  }

  // node:sqlite answers synchronously, so no query can come between another's; Kysely's lock per query would only cost.
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  // SQLite undoes DDL with its transaction; a migration that is killed half-way leaves nothing behind.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class Statement implements SqliteStatement {
  readonly reader: boolean;

  constructor(private readonly statement: StatementSync) {
    this.reader = statement.columns().length > 0;
  }

  all(parameters: readonly unknown[]): unknown[] {
    return this.statement.all(...(parameters as SQLInputValue[]));
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.statement.run(...(parameters as SQLInputValue[]));
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    return this.statement.iterate(...(parameters as SQLInputValue[]));
  }
}

class CachingDatabase implements SqliteDatabase {
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly database: DatabaseSync) {}

  prepare(sql: string): Statement {
    const cached = this.statements.get(sql);
    if (cached) return cached;
    const statement = new Statement(this.database.prepare(sql));
    if (this.statements.size >= CACHED_STATEMENTS) this.statements.delete(this.statements.keys().next().value!);
    this.statements.set(sql, statement);
    return statement;
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

/** Kysely on Node's own SQLite. Closing Kysely closes the connection. */
export class NodeSqliteDialect extends SqliteDialect {
  private readonly database: CachingDatabase;

  constructor(database: DatabaseSync) {
    const caching = new CachingDatabase(database);
    super({ database: caching });
    this.database = caching;
  }

  override createAdapter(): SqliteAdapter {
    return new Adapter(this.database);
  }
}
