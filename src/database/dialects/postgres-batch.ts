import pg from 'pg';

import { TYPES } from './postgres-types.js';

/** A query of a batch. With `name` it is a prepared statement of the connection. */
export interface Query {
  text: string;
  name?: string;
  values: readonly unknown[];
}

export interface Answer {
  rows: Record<string, unknown>[];
  /** The tag of the command, such as `UPDATE 3`. */
  tag: string;
}

interface Field {
  name: string;
  parse: (text: string) => unknown;
}

/** The statements that a connection has prepared, by their names, with the fields of their rows. */
type PreparedStatements = Map<string, readonly Field[]>;

interface Sent {
  name: string;
  text: string;
  values: (string | Buffer | null)[];
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

interface FieldDescription {
  name: string;
  dataTypeID: number;
}

const prepared = new WeakMap<pg.ClientBase, PreparedStatements>();

function preparedOn(client: pg.ClientBase): PreparedStatements {
  let statements = prepared.get(client);
  if (!statements) prepared.set(client, (statements = new Map()));
  return statements;
}

const NO_FIELDS: readonly Field[] = [];

/**
 * Queries that are sent together and end with one synchronization point. The queries of pg have one each: Postgres then
 * sends every answer by itself, and the process wakes up for each of them. The first error ends all that follow it.
 * It extends the query of pg because a pipelined client accepts no others.
 */
export class Batch extends pg.Query {
  /** Set by pg. Ends its timeout for the answer. */
  declare callback?: (error: unknown) => void;
  override readonly submit = (connection: pg.Connection): void => this.send(connection);
  private readonly sent: Sent[] = [];
  private readonly prepared: PreparedStatements;
  /** How many of them have an answer. */
  private answered = 0;
  /** The answer that is being read. */
  private fields = NO_FIELDS;
  private read: Record<string, unknown>[] = [];

  constructor(readonly client: pg.ClientBase) {
    super('');
    this.prepared = preparedOn(client);
  }

  /** Its answer comes after `submitAll`. */
  add({ name = '', text, values }: Query): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.sent.push({ name, text, values: values.map(toText), resolve, reject });
    });
  }

  /** A batch without queries is not sent. */
  submitAll(): void {
    if (this.sent.length > 0) this.client.query(this);
  }

  private send(connection: pg.Connection): void {
    connection.stream.cork();
    const parsed = new Set<string>();
    for (const { name, text, values } of this.sent) {
      const isKnown = this.prepared.has(name);
      if (!isKnown && !parsed.has(name)) {
        // An earlier batch may have prepared it and failed before its answer came.
        if (name) connection.close({ type: 'S', name }, true);
        connection.parse({ name, text, types: [] }, true);
        if (name) parsed.add(name);
      }
      connection.bind({ statement: name, values }, true);
      if (!isKnown) connection.describe({ type: 'P', name: '' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
    this.beginAnswer();
  }

  private beginAnswer(): void {
    const next = this.sent[this.answered];
    this.read = [];
    this.fields = (next && this.prepared.get(next.name)) ?? NO_FIELDS;
  }

  handleRowDescription({ fields }: { fields: readonly FieldDescription[] }): void {
    this.fields = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: TYPES.getTypeParser(dataTypeID, 'text') as Field['parse'],
    }));
  }

  handleDataRow({ fields: values }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.fields.entries()) {
      const value = values[index]!;
      row[name] = value === null ? null : parse(value);
    }
    this.read.push(row);
  }

  handleCommandComplete({ text: tag }: { text: string }): void {
    const { name, resolve } = this.sent[this.answered]!;
    if (name) this.prepared.set(name, this.fields);
    resolve({ rows: this.read, tag });
    this.answered += 1;
    this.beginAnswer();
  }

  handleError(error: unknown): void {
    for (const { reject } of this.sent.slice(this.answered)) reject(error);
    this.answered = this.sent.length;
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    this.callback?.(null);
  }
}

/** Postgres takes every value as text, except for bytes. */
function toText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  throw new TypeError(`a query has a value that is neither text, number, boolean nor bytes: ${typeof value}`);
}
