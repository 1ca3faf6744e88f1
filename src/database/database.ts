import type { Dialect } from './dialects/dialect.js';

/** An open database, before it is used. */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** The location of the database, for people, without user and password. */
  abstract readonly location: string;

  /** `warnings` are lines for the log about doubtful settings of its location. */
  constructor(readonly warnings: readonly string[] = []) {}

  /** Idempotent. A call during the close resolves with it. */
  abstract close(): Promise<void>;
}
