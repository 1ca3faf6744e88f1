import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { Lease } from '../../queue/lease.js';
import { RowClaims } from '../../queue/row-claims.js';
import type { FreeSlots } from '../../queue/slots.js';
import { DELIVERIES, type LeasedDelivery, RANKS } from './delivery-queue.js';
import { type ContentRow, DeliveryQueuesRepository } from './delivery-queues.repository.js';

const WHOLE_EVERY_MS = 30_000;

/** A delivery for which this process has a lease. */
export interface ClaimedDelivery {
  id: string;
  queue: string;
  correlationId: string;
  target: Pick<ContentRow, 'url' | 'by' | 'secrets' | 'failing_since'> & { id: string };
  sequence: number;
  attempt: number;
  /** Guards the outcome: a commit with another token changes nothing. */
  leaseToken: string;
  artifact: Omit<ContentRow, 'content_of' | 'url' | 'by' | 'secrets' | 'failing_since'>;
  /** W3C Trace Context of the publish; null without tracing. */
  traceparent: string | null;
}

/** Claims pending deliveries. The claim is committed before they are sent, so that a crash shows as a lost lease. */
@Injectable()
export class DeliveryClaims {
  readonly rows: RowClaims<LeasedDelivery, ContentRow>;
  private searchedUpTo = 0;
  private searchAllAt = 0;

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly queues: DeliveryQueuesRepository,
  ) {
    const rules = {
      free: holdQueues,
      inputsOf: (tx: Transaction, ids: string[]) => queues.contentsOf(tx, ids),
      forget: () => undefined,
    };
    this.rows = new RowClaims(DELIVERIES, rules, () => RANKS, clock, unitOfWork);
  }

  /**
   * Finds the queues of targets with pending deliveries for which no wake-up came. On Postgres, a scan of all pending
   * rows also passes the dead rows of claimed deliveries while a session holds an old snapshot (see ReadyRows). Most
   * scans therefore begin after the last position.
   */
  async readyQueues(): Promise<string[]> {
    const { dialect, reader } = this.unitOfWork;
    if (!dialect.keepsDeadRows) return this.queues.readyAfter(reader, 0);
    const searchesAll = this.clock.now() >= this.searchAllAt;
    const final = await this.unitOfWork.finalPosition('deliveries');
    const found = await (searchesAll ? this.queues.ready(reader) : this.queues.readyAfter(reader, this.searchedUpTo));
    if (searchesAll) this.searchAllAt = this.clock.now() + WHOLE_EVERY_MS;
    this.searchedUpTo = final;
    return found;
  }

  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
  ): Promise<{ claimed: ClaimedDelivery[]; moreWaiting: string[]; emptied: string[]; missed: boolean }> {
    const { rows, leaseToken, inputs, moreWaiting, emptied, missed } = await this.rows.claim(tx, slots, lease);
    const contents = new Map(inputs.map((content) => [content.content_of, content]));
    return {
      claimed: rows.map((row) => claimed(row, leaseToken, contents.get(row.id)!)),
      moreWaiting,
      emptied,
      missed,
    };
  }
}

// Limits apply to each process separately, so this lock does not count. Without it, all processes would select the
// same rows of a queue, and most of them would get nothing.
async function holdQueues(tx: Transaction, queues: string[]): Promise<ReadonlyMap<string, number>> {
  await tx.lock(queues.map((queue) => `deliver ${queue}`));
  return new Map();
}

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
