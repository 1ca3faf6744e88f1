import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import type { ArtifactRow } from '../../blackboard/artifacts/artifact.js';
import { Clock } from '../../common/clock.js';
import { preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { type Lease, RowClaims } from '../../queue/row-claims.js';
import type { FreeSlots } from '../../queue/slots.js';
import { DELIVERIES, type LeasedDelivery } from './leased-deliveries.js';
import type { WebhookTarget } from './webhook-targets.repository.js';

/**
 * Payloads up to this size are read with the claim. A round of claims takes up to 256 deliveries, so that larger
 * payloads are read later, when there is memory for them (see DeliveryPayloads).
 */
const SMALL_PAYLOAD_BYTES = 16 * 1_024;

/** The fields of an artifact that a delivery sends. */
type DeliveredArtifact = Pick<ArtifactRow, (typeof DELIVERED)[number]> & {
  /** Null where it is larger than SMALL_PAYLOAD_BYTES. */
  payload: string | null;
  payload_bytes: number | string;
};

const DELIVERED = ['seq', 'id', 'type', 'produced_by', 'created_at', 'correlation_id', 'tags'] as const;

interface TargetOfDelivery extends Pick<WebhookTarget, 'url' | 'by' | 'secrets'> {
  /** Value at the time of the claim (epoch ms). */
  failing_since: number | null;
}

/** A delivery for which this process has a lease. */
export interface ClaimedDelivery {
  id: string;
  queue: string;
  correlationId: string;
  target: TargetOfDelivery & { id: string };
  sequence: number;
  attempt: number;
  /** Guards the outcome: a commit with another token changes nothing. */
  leaseToken: string;
  artifact: DeliveredArtifact;
  /** W3C Trace Context of the publish; null without tracing. */
  traceparent: string | null;
}

type ContentRow = DeliveredArtifact & TargetOfDelivery & { content_of: string };

/** Deliveries of background work have the second priority. */
export const PRIORITIES = [0, -1];

/** Claims pending deliveries. The claim is committed before they are sent, so that a crash shows as a lost lease. */
@Injectable()
export class DeliveryClaims {
  readonly rows: RowClaims<LeasedDelivery, ContentRow>;

  constructor(clock: Clock, unitOfWork: UnitOfWork) {
    const rules = {
      free: holdQueues,
      inputsOf: (tx: Transaction, ids: string[]) => contentsOf(tx.db, {}, ids),
      forget: () => undefined,
    };
    this.rows = new RowClaims(DELIVERIES, rules, () => PRIORITIES, clock, unitOfWork);
  }

  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
    now: number,
  ): Promise<{ claimed: ClaimedDelivery[]; moreWaiting: string[]; missed: boolean }> {
    const { rows, leaseToken, inputs, moreWaiting, missed } = await this.rows.claim(tx, slots, lease, now);
    const contents = new Map(inputs.map((content) => [content.content_of, content]));
    return { claimed: rows.map((row) => claimed(row, leaseToken, contents.get(row.id)!)), moreWaiting, missed };
  }
}

// Limits apply to each process separately, so that this lock does not count. Without it, all processes would select the
// same rows of a queue, and most of them would get nothing.
async function holdQueues(tx: Transaction, queues: string[]): Promise<ReadonlyMap<string, number>> {
  await tx.lock(queues.map((queue) => `deliver ${queue}`));
  return new Map();
}

const contentsOf = preparedWithList<object, string, ContentRow>((db, _place, ids) =>
  db
    .selectFrom('deliveries')
    .innerJoin('artifacts', 'artifacts.seq', 'deliveries.artifact_seq')
    .innerJoin('webhook_targets', 'webhook_targets.id', 'deliveries.target_id')
    .select(DELIVERED.map((column) => `artifacts.${column}` as const))
    .select([
      sql<number | string>`octet_length(artifacts.payload)`.as('payload_bytes'),
      sql<
        string | null
      >`case when octet_length(artifacts.payload) <= ${sql.lit(SMALL_PAYLOAD_BYTES)} then artifacts.payload end`.as(
        'payload',
      ),
    ])
    .select([
      'deliveries.id as content_of',
      'webhook_targets.url',
      'webhook_targets.by',
      'webhook_targets.secrets',
      'webhook_targets.failing_since',
    ])
    .where('deliveries.id', 'in', ids),
);

const claimed = (
  row: LeasedDelivery,
  leaseToken: string,
  { content_of: _id, url, by, secrets, failing_since, ...artifact }: ContentRow,
): ClaimedDelivery => ({
  id: row.id,
  queue: row.queue,
  correlationId: row.correlation_id,
  target: { id: row.target_id, url, by, secrets, failing_since },
  sequence: row.sequence,
  attempt: row.attempt,
  leaseToken,
  artifact,
  traceparent: row.traceparent,
});
