import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { findDueTimers, findNextDueTime, type Timer } from '../scheduling/timer-rows.js';
import { FailedTimers } from './failed-timers.js';
import { ParkedTimers } from './parked-timers.js';
import { TIMER_HANDLERS, type TimerHandlers, type TimerWork } from './timer-handler.js';

const FIRED_AT_ONCE = 20;

interface Prepared {
  timer: Timer;
  work: TimerWork;
}

/**
 * Fires due timers in order of time: a handler prepares each, and a transaction removes it and does its work. A timer
 * that cannot be fired is postponed, so that it does not block the others.
 */
@Injectable()
export class DueTimers {
  constructor(
    @Inject(TIMER_HANDLERS) private readonly handlers: TimerHandlers,
    private readonly timers: TimerQueue,
    private readonly failed: FailedTimers,
    private readonly parked: ParkedTimers,
    private readonly processes: Processes,
    private readonly tracker: CorrelationTracker,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Fires timers until none is due or `isStopped` returns true. Returns when the next one is due (epoch ms), or null if
   * none is set. Rejects if the database is unavailable.
   */
  async fire(isStopped: () => boolean): Promise<number | null> {
    this.failed.beginPass();
    const { reader } = this.unitOfWork;
    let known: KnownWork;
    for (;;) {
      // Read in each round, because a process with more agents may have started since.
      known = await this.processes.known();
      const due = await findDueTimers(reader, this.clock.now(), FIRED_AT_ONCE, known);
      if (due.length === 0 || isStopped()) break;
      // Expressions are evaluated in parallel; the transactions then run in the order of the timers.
      const prepared = await Promise.all(due.map((timer) => this.prepareOrPostpone(timer)));
      if (isStopped()) break;
      const work = prepared.filter((each) => each !== null);
      await this.unitOfWork.inOrder(work, (each) => this.commitOrPostpone(each));
    }
    return findNextDueTime(reader, known);
  }

  private async prepareOrPostpone(timer: Timer): Promise<Prepared | null> {
    try {
      const work = await this.handlers[timer.kind].prepare(timer);
      if (!('needs' in work)) return { timer, work };
      await this.parked.park(timer, work.needs);
      return null;
    } catch (error) {
      await this.failed.postpone(timer, error);
      return null;
    }
  }

  private async commitOrPostpone({ timer, work }: Prepared): Promise<void> {
    try {
      await this.commit(timer, work);
    } catch (error) {
      await this.failed.postpone(timer, error);
    }
  }

  private commit(timer: Timer, work: TimerWork): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(work.lockKeys);
      const changes = this.tracker.begin(tx);
      if (work.correlationId !== undefined) await changes.get(work.correlationId);
      if (!(await this.timers.end(tx, timer))) return;
      await work.run(tx, changes);
      await changes.save();
    });
  }
}
