import type { Kysely } from 'kysely';
import type { Dialect } from '../dialects/dialect.js';

/** A step of the schema, only ever upwards. */
export interface NumberedMigration {
  /** Sorts after every migration before it. */
  name: string;
  /** The oldest program version that may still run on the schema after this step. */
  oldestProgram: string;
  up(db: Kysely<unknown>, dialect: Dialect): Promise<void>;
}
