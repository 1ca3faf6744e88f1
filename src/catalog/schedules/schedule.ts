import type { JsonObject } from '../../common/json.js';

/** A schedule in the configuration file or in a request. Exactly one of `cron`, `every` and `at`. */
export interface ScheduleOptions {
  description?: string;
  cron?: string;
  every?: string;
  at?: string | string[];
  time_zone?: string;
  publishes: { type: string; payload?: string | JsonObject; tags?: string[]; partition_key?: string };
  jitter?: string;
  from?: string;
  until?: string;
  except?: string[];
  overlap?: Overlap;
  missed?: Missed;
  catch_up?: string;
  dst?: { missing?: Missing; duplicate?: Duplicate };
}

export const OVERLAPS = ['allow', 'skip', 'queue', 'cancel_running'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export const MISSED = ['run_all', 'run_last', 'skip'] as const;
export type Missed = (typeof MISSED)[number];

/** The fate of a local time that a change of the clocks leaves out. */
export const MISSING = ['shift', 'skip'] as const;
export type Missing = (typeof MISSING)[number];

/** Which of the two instants of a local time that occurs twice. */
export const DUPLICATE = ['first', 'last', 'both'] as const;
export type Duplicate = (typeof DUPLICATE)[number];

/** A schedule with every default filled in. */
export interface Schedule {
  name: string;
  description: string;
  times: Times;
  /** IANA name, or an offset such as `+02:00`. */
  timeZone: string;
  publishes: {
    type: string;
    /** An object, or CEL that makes one. Null: an object with `scheduled_for`. */
    payload: string | JsonObject | null;
    tags: string[];
    partitionKey: string | null;
  };
  /** A tick is published up to this much later, always by the same time for one tick. */
  jitterMs: number;
  /** The first and the last possible tick (epoch ms). */
  from: number | null;
  until: number | null;
  except: { dates: ReadonlySet<string>; crons: readonly string[] };
  overlap: Overlap;
  missed: Missed;
  catchUpMs: number;
  dst: { missing: Missing; duplicate: Duplicate };
}

/** When it ticks. `every` counts from `from`, or from 1970. `at` has epoch ms in increasing order. */
export type Times = { cron: string } | { everyMs: number } | { at: readonly number[] };

/** A schedule with the options that it was made from. */
export interface ConfiguredSchedule {
  schedule: Schedule;
  options: ScheduleOptions;
}

/** The tag of the artifacts of a schedule. */
export const tagOf = (name: string): string => `schedule:${name}`;
