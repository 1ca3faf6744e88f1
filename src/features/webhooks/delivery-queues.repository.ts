import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';

import type { ArtifactRow } from '../../blackboard/artifacts/artifact.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { WebhookTarget } from './webhook-targets.repository.js';

/**
 * Payloads up to this size are read with the claim. A round of claims takes up to 256 deliveries, so larger
 * payloads are read later, when there is memory for them (see DeliveryPayloads).
 */
const SMALL_PAYLOAD_BYTES = 16 * 1_024;

/** The fields of an artifact that a delivery sends. */
type DeliveredArtifact = Pick<ArtifactRow, (typeof DELIVERED)[number]> & {
  /** Null if it is larger than SMALL_PAYLOAD_BYTES. */
  payload: string | null;
  payload_bytes: number | string;
};

const DELIVERED = ['seq', 'id', 'type', 'produced_by', 'created_at', 'correlation_id', 'tags'] as const;

interface TargetOfDelivery extends Pick<WebhookTarget, 'url' | 'by' | 'secrets'> {
  /** Value at the time of the claim (epoch ms). */
  failing_since: number | null;
}

/** The artifact and the target of the delivery `content_of`. */
export type ContentRow = DeliveredArtifact & TargetOfDelivery & { content_of: string };

/** Reads which queues have pending deliveries, and what claimed deliveries send. */
@Injectable()
export class DeliveryQueuesRepository {
  /**
   * Returns all queues with a pending delivery. Skips from each queue to the next, because the queue of a dead target
   * is long. SQLite does not use this query: it would choose another index and read all rows.
   */
  async ready(db: Reader): Promise<string[]> {
    const next = (after: RawBuilder<unknown>) =>
      sql`(select min(queue) from deliveries where state = 'pending' and available_at is null and queue > ${after})`;
    const { rows } = await sql<{ queue: string }>`
      with recursive queues (queue) as (select ${next(sql`''`)} union all select ${next(sql`queues.queue`)} from queues where queues.queue is not null)
      select queue from queues where queue is not null`.execute(db);
    return rows.map(({ queue }) => queue);
  }

  /** Returns the queues with a pending delivery after this position. */
  async readyAfter(db: Reader, position: number): Promise<string[]> {
    const rows = await db
      .selectFrom('deliveries')
      .select('queue')
      .distinct()
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is', null)
      .where('seq', '>', position)
      .execute();
    return rows.map(({ queue }) => queue);
  }

  contentsOf(tx: Transaction, ids: readonly string[]): Promise<ContentRow[]> {
    return contentsOf(tx.db, {}, ids);
  }

  /** Returns undefined if the artifact was deleted. */
  async payloadOf(db: Reader, artifactSeq: number): Promise<string | undefined> {
    const [found] = await findPayload(db, { seq: artifactSeq });
    return found?.payload;
  }
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

const findPayload = prepared<{ seq: number }, { payload: string }>((db, place) =>
  db.selectFrom('artifacts').select('payload').where('seq', '=', place('seq')),
);
