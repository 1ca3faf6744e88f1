import type { Generated } from 'kysely';

/** The processes on the database, and what they share. */
export interface ProcessTables {
  processes: ProcessesTable;
  scheduler_locks: SchedulerLocksTable;
  idempotency_keys: IdempotencyKeysTable;
  program_versions: ProgramVersionsTable;
}

/** A live process on the database. */
export interface ProcessesTable {
  /** The owner of its leases, in `executions`, `deliveries`, `batches` and `idempotency_keys`. */
  id: string;
  /** JSON list of the names of the agents in its configuration. */
  agents: string;
  /** JSON object: agent → numbers of its subscriptions in which artifacts wait, as in `subscriptions`. */
  subscriptions: string;
  /** JSON list. */
  roles: string;
  version: string;
  /** Digest of its configuration. */
  configuration: string;
  /** JSON object: the digest of each configuration that replays may name, by its name. */
  replay_configurations: Generated<string>;
  /** How many executions it may run at the same time. Null if it did not register this. */
  max_executions: Generated<number | null>;
  started_at: number;
  /** When it last renewed this row (epoch ms). */
  seen_at: number;
  /** Epoch ms. Renewed together with its leases. */
  seen_until: number;
}

/** Scheduled work that one process at a time does. A conditional update decides which one. */
export interface SchedulerLocksTable {
  name: string;
  /** Epoch ms. The process that has the lock moves it forward when it takes the lock and while it works. */
  due_at: number;
}

export interface IdempotencyKeysTable {
  endpoint: string;
  key: string;
  request_hash: string;
  /** JSON of the ids that the request uses. */
  ids: string;
  /** The process that holds the reservation. */
  owner: string;
  lease_until: number;
  /** JSON of the stored answer. Null while the first request runs and if the answer is large. */
  response: string | null;
  /** JSON of the pieces of a large answer: texts, and positions of artifacts. */
  pieces: Generated<string | null>;
  expires_at: number;
}

export interface ProgramVersionsTable {
  migration: string;
  /** The oldest version that may use the schema after this migration. */
  oldest_program: string;
  migrated_at: Generated<string>;
}
