import { Inject, Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { toTimestamp } from '../../common/timestamp.js';
import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { type ClaimedDelivery, PRIORITIES } from './delivery-claims.js';
import { originOf } from './target-queue.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';

/** Maximum number of rows that one transaction ends. */
const AT_ONCE = 100;
/** Maximum number of rows that one query reads. */
const LOOKED_AT = 1_000;
/** A delivery is not given up before it has waited this long, even where the retry schedule is shorter. */
const LEAST_WAIT_MS = 600_000;

interface Silence {
  target: string;
  queue: string;
  /** When the target began to fail (epoch ms). */
  failingSince: number;
  /** Deliveries that have waited since this time or longer are given up (epoch ms). */
  waitingSince: number;
}

interface Ready {
  correlation_id: string;
  created_at: number;
  /** Time of the last attempt or of sending it again, otherwise of its creation (epoch ms). */
  since: number;
}

/**
 * Gives up the deliveries that wait for a target that does not answer. Such a target is held back, so that a long queue
 * would take weeks to use up its attempts. The attempts of one delivery therefore count for all: when one delivery has
 * used up its attempts and the target has not answered meanwhile, all deliveries that have waited since before the
 * first of these attempts are dead too.
 */
@Injectable()
export class SilentTargets {
  private readonly underWay = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly deliveries: DeliveriesRepository,
    private readonly targets: WebhookTargetsRepository,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Call it when the last attempt of a delivery has failed. After a crash, the next delivery that ends does the rest.
   */
  exhausted(delivery: ClaimedDelivery): void {
    const { queue } = delivery;
    if (this.stopped || this.underWay.has(queue)) return;
    const work = this.giveUpWaiting(delivery)
      .catch((error: unknown) =>
        this.logger.warn(
          { err: error, origin: originOf(queue) },
          'deliveries to a target that does not answer could not be given up',
        ),
      )
      .finally(() => this.underWay.delete(queue));
    this.underWay.set(queue, work);
  }

  /** Returns when the running steps have ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.underWay.values());
  }

  private async giveUpWaiting(delivery: ClaimedDelivery): Promise<void> {
    const silence = await this.silenceSeenBy(delivery);
    if (!silence) return;
    let count = 0;
    for (const priority of PRIORITIES) count += await this.walk(silence, priority);
    if (count > 0) {
      const fields = {
        origin: originOf(silence.queue),
        deliveries: count,
        failing_since: toTimestamp(silence.failingSince),
      };
      this.logger.warn(
        fields,
        'gave up waiting deliveries: their target answered no attempt of another delivery meanwhile',
      );
    }
  }

  private async silenceSeenBy({ id, queue, target }: ClaimedDelivery): Promise<Silence | null> {
    const { reader } = this.unitOfWork;
    const failingSince = await this.targets.failingSince(reader, target.id);
    const [first] = await findFirstTry(reader, { id });
    if (failingSince === null || !first) return null;
    const waitingSince = Math.min(first.started_at, this.clock.now() - LEAST_WAIT_MS);
    return failingSince <= waitingSince ? { target: target.id, queue, failingSince, waitingSince } : null;
  }

  /**
   * Ends deliveries of this priority or a lower one, in the order of claims. It reads the first delivery of each
   * correlation; the later ones of the correlation end with it.
   */
  private async walk(silence: Silence, priority: number): Promise<number> {
    const { queue, waitingSince } = silence;
    let ended = 0;
    let passed = 0;
    while (!this.stopped) {
      const some = await findReady(this.unitOfWork.reader, { queue, priority, passed });
      const waiting = some.filter(({ since }) => since <= waitingSince);
      passed += some.length - waiting.length;
      const here = await this.endIn(silence, [...new Set(waiting.map(({ correlation_id }) => correlation_id))]);
      ended += here;
      // The remaining rows here and behind are too recent, or cannot be ended now.
      if (here === 0 && some.every(({ created_at, since }) => created_at > waitingSince || since <= waitingSince))
        break;
    }
    return ended;
  }

  private async endIn(silence: Silence, correlations: readonly string[]): Promise<number> {
    let ended = 0;
    for (let start = 0; start < correlations.length && !this.stopped;) {
      const some = await this.unitOfWork.run((tx) =>
        this.endSome(tx, silence, correlations.slice(start, start + AT_ONCE)),
      );
      this.telemetry.deliveriesGivenUp(some);
      ended += some;
      if (some < AT_ONCE) start += AT_ONCE;
    }
    return ended;
  }

  private async endSome(
    tx: Transaction,
    { target, failingSince, waitingSince }: Silence,
    correlations: readonly string[],
  ): Promise<number> {
    await this.deliveries.holdAllGroups(tx, correlations);
    // The target has answered meanwhile, and may have failed again since.
    if ((await this.targets.failingSince(tx.db, target)) !== failingSince) return 0;
    const error = `its target has not answered since ${toTimestamp(failingSince)}: all attempts of another delivery failed while this one waited`;
    const ended = await endWaiting(tx.db, { target, waitingSince, now: this.clock.now(), error }, correlations);
    const groups = [...new Set(ended.map(({ correlation_id }) => correlation_id))];
    const next = await Promise.all(groups.map((correlation) => this.deliveries.beginNext(tx, correlation, target)));
    for (const { queue } of next.flat()) tx.whenVisible(() => this.signals.deliveryReturned.publish(queue));
    return ended.length;
  }
}

// The newest first attempt, because sending a delivery again starts at attempt 1.
const findFirstTry = prepared<{ id: string }, { started_at: number }>((db, place) =>
  db
    .selectFrom('delivery_attempts')
    .select('started_at')
    .where('delivery_id', '=', place('id'))
    .where('attempt', '=', 1)
    .orderBy('seq', 'desc')
    .limit(1),
);

// Has the order of the index; otherwise SQLite would scan the pending deliveries of all targets.
const findReady = prepared<{ queue: string; priority: number; passed: number }, Ready>((db, place) =>
  db
    .selectFrom('deliveries')
    .select(['correlation_id', 'created_at', sql<number>`coalesce(attempt_started_at, created_at)`.as('since')])
    .where('queue', '=', place('queue'))
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .where('priority', '<=', place('priority'))
    .orderBy('priority', 'desc')
    .orderBy('seq')
    .limit(LOOKED_AT)
    .offset(place('passed')),
);

/** Leaves running deliveries and those with a scheduled attempt, because they have further attempts. */
const endWaiting = preparedWithList<
  { target: string; waitingSince: number; now: number; error: string },
  string,
  { correlation_id: string }
>((db, place, correlations) => {
  const waiting = db
    .selectFrom('deliveries')
    .select('id')
    .where('correlation_id', 'in', correlations)
    .where('target_id', '=', place('target'))
    .where('ended_at', 'is', null)
    // See queue/state-predicate.ts.
    .where(sql<boolean>`coalesce(state, '') in ('waiting', 'pending')`)
    .where('available_at', 'is', null)
    .where(sql<number>`coalesce(attempt_started_at, created_at)`, '<=', place('waitingSince'))
    .orderBy('correlation_id')
    .orderBy('seq')
    .limit(AT_ONCE);
  return db
    .updateTable('deliveries')
    .set({ state: 'dead', ended_at: place('now'), last_status: null, last_error: place('error') })
    .where('id', 'in', locking(db, waiting, { wait: false }))
    .returning('correlation_id');
});
