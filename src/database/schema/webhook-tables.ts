import type { ColumnType, Generated } from 'kysely';

/** Webhook targets and deliveries. */
export interface WebhookTables {
  webhook_targets: WebhookTargetsTable;
  correlation_targets: CorrelationTargetsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
}

/** A destination of deliveries. Equal destinations share a row. */
export interface WebhookTargetsTable {
  id: string;
  url: string;
  /** The URL's origin. The health of a receiver applies to all targets with its origin. */
  origin: string;
  /** Who set the target, which decides what addresses it may reach. */
  by: 'client' | 'operator';
  /**
   * Sealed JSON list of the signing secrets. Null if there are none, and for the operator's, which the settings hold.
   */
  secrets: string | null;
  /** The same for equal targets. It reveals nothing about the secrets without their key. */
  fingerprint: string;
  created_at: number;
  /** Start of the first failed try since the target last worked. Null if the last try did not fail. */
  failing_since: Generated<number | null>;
}

/** The targets that clients have set for a correlation. */
export interface CorrelationTargetsTable {
  correlation_id: string;
  target_id: string;
}

/** `waiting`: an earlier delivery of the same correlation to the same target has not ended. */
export type DeliveryState = 'waiting' | 'pending' | 'running' | 'delivered' | 'dead';

export interface DeliveriesTable {
  /** Also its place among the deliveries of its correlation to its target. */
  seq: Generated<number>;
  /** Also the header `webhook-id`, on every try. */
  id: string;
  target_id: string;
  /** The queue of its target, from which it is claimed (src/features/webhooks/delivery-queue.ts). */
  queue: string;
  correlation_id: string;
  artifact_seq: number;
  artifact_id: string;
  /** The artifact's number in its correlation, from 1. */
  sequence: number;
  /** It is changed by `changeState` (src/queue/change-state.ts) alone. */
  state: ColumnType<DeliveryState, DeliveryState, never>;
  /** Always 0. */
  priority: number;
  /** 1 for background work, which comes after other deliveries to the same target. */
  background: Generated<number>;
  /** The current or next try, from 1. */
  attempt: number;
  /**
   * Start of the current try, set by its last claim. While it is pending, the time when it was last claimed or sent
   * again by hand.
   */
  attempt_started_at: Generated<number | null>;
  /** The time of a pending retry. Null if it may be claimed now. */
  available_at: Generated<number | null>;
  /** The following columns mean the same as those of executions. */
  lease_token: Generated<string | null>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  claim: Generated<number | null>;
  lost_leases: number;
  /** The span that published its artifact, in the trace of its correlation. Null if it is not traced. */
  traceparent: Generated<string | null>;
  created_at: number;
  /** When it was first claimed. */
  started_at: Generated<number | null>;
  /** Null exactly while it is waiting, pending or running. */
  ended_at: Generated<number | null>;
  /** HTTP status of the last try's answer. */
  last_status: Generated<number | null>;
  last_error: Generated<string | null>;
}

export interface DeliveryAttemptsTable {
  seq: Generated<number>;
  delivery_id: string;
  /** Starts at 1, and again at 1 when the delivery is sent again by hand. */
  attempt: number;
  started_at: number;
  duration_ms: number;
  /** Null if no answer came. */
  status: number | null;
  /** Null if it was delivered. */
  error: string | null;
}
