import type { Generated } from 'kysely';

export interface ScheduleTables {
  schedules: SchedulesTable;
  schedule_versions: ScheduleVersionsTable;
  schedule_ticks: ScheduleTicksTable;
}

/** A schedule that exists. Its next tick is a timer of kind `tick`. */
export interface SchedulesTable {
  name: string;
  /** The value of `schedule_versions.version`. */
  version: number;
  /** `file`: the configuration file has it, and the API cannot change it. */
  source: 'file' | 'api';
  /** Digest of the configuration whose file had it last; empty for `api`. */
  configuration: string;
  /** Epoch ms. All ticks up to here are decided. */
  position: number;
  paused_at: number | null;
  created_at: number;
  updated_at: number;
}

/** Every version of every schedule so far, also of deleted ones. A backfill uses the version of its time. */
export interface ScheduleVersionsTable {
  schedule: string;
  version: number;
  /** JSON of `ScheduleOptions`. */
  options: string;
  /** Epoch ms. It holds from here until the next version. */
  valid_from: number;
  /** When the schedule was deleted (epoch ms). Null for the other versions. */
  ended_at: number | null;
}

/** `queued`: waits for the end of an earlier tick's work. `failed`: its payload could not be made. */
export type TickState = 'published' | 'queued' | 'skipped' | 'failed';

/** A tick that is decided. The row stays when the artifact is deleted, so that a tick is published only once. */
export interface ScheduleTicksTable {
  seq: Generated<number>;
  schedule: string;
  /** Epoch ms. Unique within the schedule. */
  scheduled_for: number;
  version: number;
  state: TickState;
  cause: 'time' | 'trigger' | 'backfill';
  /** Why it was skipped or failed. */
  reason: string | null;
  artifact_id: string | null;
  correlation_id: string | null;
  decided_at: number;
}
