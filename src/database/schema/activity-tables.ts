import type { Generated } from 'kysely';

import type { UsageSums } from './usage-tables.js';

/** The activity of agents: rows for what has just happened, and the rollups of these rows. */
export interface ActivityTables {
  activity: ActivityTable;
  activity_hours: ActivityHoursTable;
  activity_counts: ActivityCountsTable;
  activity_since: ActivitySinceTable;
}

/** `retried`: an attempt failed, and the agent's `retry` allows another one. */
export type ActivityEvent = 'started' | 'completed' | 'failed' | 'retried';

/**
 * A row counts executions that started or ended, attempts that are retried, or the model usage of an attempt. Transactions that
 * run together share rows, so readers sum the columns, and do not count rows. A background step adds them up in
 * `activity_hours` and `activity_counts` and then deletes them.
 */
export interface ActivityTable extends UsageSums {
  seq: Generated<number>;
  /** Empty for executions that ended without a run of their agents, which only the total of all agents counts. */
  agent: string;
  /** Epoch ms of the hour's start. */
  hour: number;
  executions: number;
  failures: number;
  artifacts_consumed: number;
  artifacts_produced: number;
  /** Epoch ms of the minute's start. Null if the row has no event. */
  minute: Generated<number | null>;
  /** Null for model usage, and in rows of versions that did not count events. */
  event: Generated<ActivityEvent | null>;
  /** See ActivityCountsTable. */
  bucket: Generated<number | null>;
  /** How often the event occurred. */
  events: Generated<number>;
}

/** Totals for each agent and hour, kept forever. */
export interface ActivityHoursTable extends UsageSums {
  agent: string;
  hour: number;
  executions: number;
  failures: number;
  artifacts_consumed: number;
  artifacts_produced: number;
}

/**
 * Rollup: how often an event occurred in a minute, a quarter of an hour or an hour, with a histogram of its latency.
 * `src/blackboard/queries/activity-resolutions.ts` says how long the rows are kept.
 */
export interface ActivityCountsTable {
  /** Length of the step (ms). */
  resolution: number;
  /** Epoch ms of the step's start. */
  start: number;
  agent: string;
  event: ActivityEvent;
  /**
   * `latencyBucket` of the time from the creation to the start (`started`), or from the start of the last attempt to
   * the end (`completed`, `failed`). -1 if there is none.
   */
  bucket: number;
  count: number;
}

/** One row. */
export interface ActivitySinceTable {
  /** Always 1. */
  id: number;
  /** Since when events are counted (epoch ms). */
  since: number;
}

/** The columns that `activity` and `activity_hours` have in common. */
export const ACTIVITY_COLUMNS = [
  'agent',
  'hour',
  'executions',
  'failures',
  'artifacts_consumed',
  'artifacts_produced',
  'input_tokens',
  'output_tokens',
  'cost',
] as const satisfies readonly (keyof ActivityHoursTable)[];
