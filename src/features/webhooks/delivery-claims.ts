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

/** Larger payloads are read when there is room for them (see DeliveryPayloads): one round of claims takes up to 256 deliveries. */
const SMALL_PAYLOAD_BYTES = 16 * 1_024;

/** What a delivery shows of an artifact. */
type DeliveredArtifact = Pick<ArtifactRow, (typeof DELIVERED)[number]> & {
  /** Null where it is not small. */
  payload: string | null;
  payload_bytes: number | string;
};

const DELIVERED = ['seq', 'id', 'type', 'produced_by', 'created_at', 'correlation_id', 'tags'] as const;

interface TargetOfDelivery extends Pick<WebhookTarget, 'url' | 'by' | 'secrets'> {
  /** As of the claim (epoch ms). */
  failing_since: number | null;
}

/** A delivery that this process holds by a lease. */
export interface ClaimedDelivery {
  id: string;
  queue: string;
  correlationId: string;
  target: TargetOfDelivery & { id: string };
  sequence: number;
  attempt: number;
  /** The guard of the outcome. */
  leaseToken: string;
  artifact: DeliveredArtifact;
  /** What caused it; null where nothing was traced. */
  traceparent: string | null;
}

type ContentRow = DeliveredArtifact & TargetOfDelivery & { content_of: string };

/** In the background deliveries have the second one. */
export const PRIORITIES = [0, -1];

/** Claims waiting deliveries. The claim is committed before they are sent, so that a crash is seen as a lost lease. */
@Injectable()
export class DeliveryClaims {
  readonly rows: RowClaims<LeasedDelivery, ContentRow>;

  constructor(clock: Clock, unitOfWork: UnitOfWork) {
    const rules = { free: holdQueues, inputsOf: (tx: Transaction, ids: string[]) => contentsOf(tx.db, {}, ids), forget: () => undefined };
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

// Limits hold in each process by itself. One after another claim from a queue, or all would find the same and most of them miss it.
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
      sql<string | null>`case when octet_length(artifacts.payload) <= ${sql.lit(SMALL_PAYLOAD_BYTES)} then artifacts.payload end`.as('payload'),
    ])
    .select(['deliveries.id as content_of', 'webhook_targets.url', 'webhook_targets.by', 'webhook_targets.secrets', 'webhook_targets.failing_since'])
    .where('deliveries.id', 'in', ids),
);

const claimed = (row: LeasedDelivery, leaseToken: string, { content_of: _id, url, by, secrets, failing_since, ...artifact }: ContentRow): ClaimedDelivery => ({
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
