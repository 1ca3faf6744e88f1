import type { ActivityTables } from './schema/activity-tables.js';
import type { ArtifactTables } from './schema/artifact-tables.js';
import type { ExecutionTables } from './schema/execution-tables.js';
import type { ExperimentTables } from './schema/experiment-tables.js';
import type { OperationTables } from './schema/operation-tables.js';
import type { ProcessTables } from './schema/process-tables.js';
import type { RunTables } from './schema/run-tables.js';
import type { ScheduleTables } from './schema/schedule-tables.js';
import type { UsageTables } from './schema/usage-tables.js';
import type { WaitingTables } from './schema/waiting-tables.js';
import type { WebhookTables } from './schema/webhook-tables.js';

export type * from './schema/activity-tables.js';
export type * from './schema/artifact-tables.js';
export type * from './schema/execution-tables.js';
export type * from './schema/experiment-tables.js';
export type * from './schema/operation-tables.js';
export type * from './schema/process-tables.js';
export type * from './schema/run-tables.js';
export type * from './schema/schedule-tables.js';
export type * from './schema/usage-tables.js';
export type * from './schema/waiting-tables.js';
export type * from './schema/webhook-tables.js';

/**
 * The tables, one schema for both databases. Times are epoch milliseconds, JSON is text and booleans are 0 and 1,
 * because both databases store and compare these alike.
 */
export interface Schema
  extends
    ActivityTables,
    ArtifactTables,
    ExecutionTables,
    WaitingTables,
    UsageTables,
    RunTables,
    WebhookTables,
    ProcessTables,
    OperationTables,
    ScheduleTables,
    ExperimentTables {}
