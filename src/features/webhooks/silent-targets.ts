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

/** Rows that one transaction ends. */
const AT_ONCE = 100;
/** Rows that one query looks at. */
const LOOKED_AT = 1_000;
/** However soon all tries of a delivery are over, one that waits is not given up before. */
const LEAST_WAIT_MS = 600_000;

interface Silence {
  target: string;
  queue: string;
  /** Since when the target fails (epoch ms). */
  failingSince: number;
  /** What waits since then, or for longer, is given up (epoch ms). */
  waitingSince: number;
}

interface Ready {
  correlation_id: string;
  created_at: number;
  /** When it was tried last, or sent again by hand, or else made. */
  since: number;
}

/**
 * Gives up what waits for a target that does not answer. Held back, it is tried so rarely that a long queue would take weeks to end by
 * tries of its own. So the tries of one delivery stand for all that wait: once one has had all of its tries, and the target has answered
 * nothing meanwhile, what was waiting since before the first of them is dead too.
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

  /** The last try of a delivery has failed. Another one's end makes up for whatever a crash leaves undone here. */
  exhausted(delivery: ClaimedDelivery): void {
    const { queue } = delivery;
    if (this.stopped || this.underWay.has(queue)) return;
    const work = this.giveUpWaiting(delivery)
      .catch((error: unknown) => this.logger.warn({ err: error, origin: originOf(queue) }, 'what waits for a target that does not answer could not be given up'))
      .finally(() => this.underWay.delete(queue));
    this.underWay.set(queue, work);
  }

  /** Returns when the steps in hand have ended. */
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
      const fields = { origin: originOf(silence.queue), deliveries: count, failing_since: toTimestamp(silence.failingSince) };
      this.logger.warn(fields, 'deliveries were given up that have waited as long as all tries of one last, while their target answered none');
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

  /** Of this priority or a lower one, those that stand first in their correlations, in the order of claims: the others follow them. */
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
      // What is left here is too young, and so is what comes behind, or cannot be ended now.
      if (here === 0 && some.every(({ created_at, since }) => created_at > waitingSince || since <= waitingSince)) break;
    }
    return ended;
  }

  private async endIn(silence: Silence, correlations: readonly string[]): Promise<number> {
    let ended = 0;
    for (let start = 0; start < correlations.length && !this.stopped; ) {
      const some = await this.unitOfWork.run((tx) => this.endSome(tx, silence, correlations.slice(start, start + AT_ONCE)));
      this.telemetry.deliveriesGivenUp(some);
      ended += some;
      if (some < AT_ONCE) start += AT_ONCE;
    }
    return ended;
  }

  private async endSome(tx: Transaction, { target, failingSince, waitingSince }: Silence, correlations: readonly string[]): Promise<number> {
    await this.deliveries.holdAllGroups(tx, correlations);
    // It has answered since, or another one failed first after that.
    if ((await this.targets.failingSince(tx.db, target)) !== failingSince) return 0;
    const error = `its target has answered nothing since ${toTimestamp(failingSince)}, through all tries of another delivery, while this one waited`;
    const ended = await endWaiting(tx.db, { target, waitingSince, now: this.clock.now(), error }, correlations);
    const groups = [...new Set(ended.map(({ correlation_id }) => correlation_id))];
    const next = await Promise.all(groups.map((correlation) => this.deliveries.beginNext(tx, correlation, target)));
    for (const { queue } of next.flat()) tx.whenVisible(() => this.signals.deliveryReturned.publish(queue));
    return ended.length;
  }
}

// Sent again by hand, it has begun anew.
const findFirstTry = prepared<{ id: string }, { started_at: number }>((db, place) =>
  db.selectFrom('delivery_attempts').select('started_at').where('delivery_id', '=', place('id')).where('attempt', '=', 1).orderBy('seq', 'desc').limit(1),
);

// Ordered as the index is, or SQLite would look through what waits for all targets.
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

/** What is on its way, or waits for the time of its next try, has tries of its own. */
const endWaiting = preparedWithList<{ target: string; waitingSince: number; now: number; error: string }, string, { correlation_id: string }>((db, place, correlations) => {
  const waiting = db
    .selectFrom('deliveries')
    .select('id')
    .where('correlation_id', 'in', correlations)
    .where('target_id', '=', place('target'))
    .where('ended_at', 'is', null)
    // As in queue/state-predicate.ts.
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
