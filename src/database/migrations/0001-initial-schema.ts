import { createArtifactTables } from './0001-initial-schema/create-artifact-tables.js';
import { createExecutionTables } from './0001-initial-schema/create-execution-tables.js';
import { createProcessTables } from './0001-initial-schema/create-process-tables.js';
import { createRunTables } from './0001-initial-schema/create-run-tables.js';
import { createUsageTables } from './0001-initial-schema/create-usage-tables.js';
import { createWaitingTables } from './0001-initial-schema/create-waiting-tables.js';
import { createWebhookTables } from './0001-initial-schema/create-webhook-tables.js';
import type { NumberedMigration } from './migration.js';

/** The schema of the first release. `src/database/schema` says what the columns mean. */
export const initialSchema: NumberedMigration = {
  name: '0001-initial-schema',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await createArtifactTables(db, dialect);
    await createExecutionTables(db, dialect);
    await createWaitingTables(db, dialect);
    await createUsageTables(db, dialect);
    await createRunTables(db, dialect);
    await createWebhookTables(db, dialect);
    await createProcessTables(db);
  },
};
