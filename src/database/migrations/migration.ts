import type { Kysely } from 'kysely';

import type { Dialect } from '../dialects/dialect.js';

/** A migration of the schema. There are no down migrations. */
export interface NumberedMigration {
  /** Must sort after the names of all earlier migrations. */
  name: string;
  /** The oldest version that may still use the schema after this migration. */
  oldestProgram: string;
  up(db: Kysely<unknown>, dialect: Dialect): Promise<void>;
}
