import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

import {
  type CompiledQuery,
  type LimitNode,
  type OperationNode,
  RawNode,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteQueryCompiler,
  type SqliteStatement,
  ValueNode,
} from 'kysely';

import type { DirectAdapter } from '../prepared.js';
import { type DialectAdapter, SQLITE } from './dialect.js';

// Lists of values make many SQL texts (`in (?, ?, ...)`), so the cache must be bounded.
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

  // node:sqlite is synchronous, so queries cannot interleave. Kysely's lock per query would only cost time.
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  // SQLite rolls back DDL with its transaction, so a migration that is killed half-way leaves nothing behind.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Reads rows as arrays: node:sqlite needs longer to make its objects, and V8 to read their fields, than those of `rowOf`. */
class Statement implements SqliteStatement {
  readonly reader: boolean;
  private columns: readonly string[];

  constructor(private readonly statement: StatementSync) {
    this.columns = this.columnsNow();
    this.reader = this.columns.length > 0;
    statement.setReturnArrays(true);
  }

  all(parameters: readonly unknown[]): unknown[] {
    return this.statement.all(...(parameters as SQLInputValue[])).map(this.rowOf);
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.statement.run(...(parameters as SQLInputValue[]));
  }

  *iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    for (const values of this.statement.iterate(...(parameters as SQLInputValue[]))) yield this.rowOf(values);
  }

  private readonly rowOf = (values: unknown): unknown => {
    const own = values as readonly unknown[];
    // A migration may add a column after `select *` was prepared.
    if (own.length !== this.columns.length) this.columns = this.columnsNow();
    const row: Record<string, unknown> = {};
    for (let index = 0; index < own.length; index += 1) row[this.columns[index]!] = own[index];
    return row;
  };

  private columnsNow(): string[] {
    return this.statement.columns().map(({ name }) => name);
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

/**
 * SQLite prepares a statement again each time a parameter is bound to its limit, because the number may change the plan,
 * which takes longer than most queries. An expression does not decide the plan.
 */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append(isLiteral(limit) ? 'limit ' : 'limit 0 + ');
    this.visitNode(limit);
  }
}

const isLiteral = (node: OperationNode): boolean =>
  ValueNode.is(node) ? node.immediate === true : RawNode.is(node) && node.parameters.every(isLiteral);

/** Kysely on Node's SQLite. Closing Kysely closes the connection. */
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

  override createQueryCompiler(): SqliteQueryCompiler {
    return new QueryCompiler();
  }
}
