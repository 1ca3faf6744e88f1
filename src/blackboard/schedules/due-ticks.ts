import { Injectable } from '@nestjs/common';

import type { Schedule } from '../../catalog/schedules/schedule.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { Cancellation } from '../execution/cancellation.js';
import { JoinRemoval } from '../joins/join-removal.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { type NextStep, nextStep } from './next-step.js';
import { findSchedule, findVersion, findVersionAt, type ScheduleRow, updateSchedule } from './schedule-rows.js';
import { scheduleLock, scheduleOf } from './stored-schedules.js';
import { type PreparedTick, TickPublisher } from './tick-publisher.js';
import {
  type ActiveTick,
  claimTick,
  countTicks,
  findActive,
  findQueued,
  insertTicks,
  type NewTick,
  type Tick,
  undone,
} from './tick-rows.js';

const MOST_QUEUED = 1_000;
/** How often a queued tick looks whether the earlier work has ended. */
const LOOK_AGAIN_MS = 1_000;

/** The next step of a schedule, with what it needs. */
interface Plan {
  row: ScheduleRow;
  schedule: Schedule;
  version: number;
  validUntil: number | null;
  step: NextStep;
  /** The published ticks whose work is active, if the schedule or a queued tick lets them matter. */
  active: ActiveTick[];
  /** The artifact of the step's tick, or of the first queued tick if `queued` is set. */
  prepared: PreparedTick | null;
  queued: Tick | undefined;
}

/** The work of the timer of a schedule, with the lock keys that its transaction locks first. */
export interface ScheduleWork {
  lockKeys: string[];
  run: (tx: Transaction, changes: CorrelationChanges) => Promise<void>;
}

/** Decides the ticks of schedules, one step at a time: publishes a tick, skips some, or sets the timer of the next. */
@Injectable()
export class DueTicks {
  constructor(
    private readonly publisher: TickPublisher,
    private readonly cancellation: Cancellation,
    private readonly joinRemoval: JoinRemoval,
    private readonly timers: TimerQueue,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns null if the schedule does not exist or is paused. */
  async prepare(name: string): Promise<ScheduleWork | null> {
    const plan = await this.plan(name);
    if (!plan) return null;
    return {
      lockKeys: [
        scheduleLock(name),
        ...(plan.prepared?.lockKeys ?? []),
        ...(await this.joinRemoval.lockKeys(this.unitOfWork.reader, cancelledBy(plan))),
      ],
      run: (tx, changes) => this.run(tx, changes, plan),
    };
  }

  private async plan(name: string): Promise<Plan | null> {
    const { reader } = this.unitOfWork;
    const row = await findSchedule(reader, name);
    if (!row || row.paused_at !== null) return null;
    const { version, options, validUntil } = await findVersionAt(reader, name, row.position);
    const schedule = scheduleOf(name, options);
    const queued = await findQueued(reader, name);
    const active = queued || schedule.overlap !== 'allow' ? await findActive(reader, name) : [];
    const step = nextStep(schedule, row.position, validUntil, this.clock.now());
    const plan = { row, schedule, version, validUntil, step, active, queued: undefined, prepared: null };
    if (queued && active.length === 0) return { ...plan, queued, prepared: await this.prepareQueued(queued) };
    if (step.kind !== 'publish') return plan;
    const tick = { schedule, version, scheduledFor: step.tick, cause: 'time' as const };
    return { ...plan, prepared: await this.publisher.prepare(tick) };
  }

  /** Uses the version of the schedule that has queued the tick, because the schedule may have changed since. */
  private async prepareQueued({ schedule: name, version, scheduled_for }: Tick): Promise<PreparedTick> {
    const schedule = scheduleOf(name, await findVersion(this.unitOfWork.reader, name, version));
    return this.publisher.prepare({ schedule, version, scheduledFor: scheduled_for, cause: 'time' });
  }

  private async run(tx: Transaction, changes: CorrelationChanges, plan: Plan): Promise<void> {
    const { row, schedule, prepared, queued } = plan;
    const current = await findSchedule(tx.db, row.name);
    if (!current || current.paused_at !== null) return;
    const isSame = current.version === row.version && current.position === row.position;
    let { position } = current;
    if (isSame && queued) await this.publisher.store(tx, changes, prepared!, ['queued']);
    else if (isSame) position = await this.take(tx, changes, plan);
    if (position !== current.position) await updateSchedule(tx, row.name, { position });
    await this.setTimer(tx, schedule, isSame ? plan.validUntil : position, position);
  }

  /** Does the step. Returns up to where all ticks are decided then. */
  private async take(tx: Transaction, changes: CorrelationChanges, plan: Plan): Promise<number> {
    const { row, step, prepared } = plan;
    if (step.kind === 'advance') return step.position;
    if (step.kind === 'skip') {
      await insertTicks(
        tx,
        step.ticks.map(({ scheduledFor, reason }) => this.undone(plan, scheduledFor, { state: 'skipped', reason })),
      );
      return step.ticks.at(-1)!.scheduledFor;
    }
    if (step.kind !== 'publish') return row.position;
    const instead = await this.insteadOf(tx, plan);
    if (instead) await insertTicks(tx, [this.undone(plan, step.tick, instead)]);
    // A backfill may have published it already, and its work stays.
    else if (await claimTick(tx, prepared!.tick)) {
      const cancelled = cancelledBy(plan);
      if (cancelled.length > 0) await this.cancellation.cancelOpen(tx, cancelled);
      await this.publisher.publish(tx, changes, prepared!);
    }
    return step.tick;
  }

  /** Returns how a tick ends that the work of an earlier one prevents; null if it is published. */
  private async insteadOf(
    { db }: Transaction,
    { schedule: { name, overlap }, active: found, prepared }: Plan,
  ): Promise<Pick<NewTick, 'state' | 'reason'> | null> {
    // Transactions of many due ticks run one after the other, so the work may have ended since.
    const active = found.length > 0 ? await findActive(db, name) : found;
    const waits = overlap === 'queue' && (active.length > 0 || (await findQueued(db, name)) !== undefined);
    if (prepared!.matched === null || (!waits && (active.length === 0 || overlap !== 'skip'))) return null;
    if (waits && (await countTicks(db, name, 'queued')) < MOST_QUEUED) return { state: 'queued', reason: null };
    const reason = waits
      ? `${MOST_QUEUED} ticks are queued`
      : `correlation ${active[0]!.correlation} of an earlier tick is still active`;
    return { state: 'skipped', reason };
  }

  private undone({ row, version }: Plan, scheduledFor: number, how: Pick<NewTick, 'state' | 'reason'>): NewTick {
    return undone({
      schedule: row.name,
      scheduled_for: scheduledFor,
      version,
      decided_at: this.clock.now(),
      ...how,
    });
  }

  /** Sets the timer of the next step, if there is one. */
  private async setTimer(
    tx: Transaction,
    schedule: Schedule,
    validUntil: number | null,
    position: number,
  ): Promise<void> {
    const now = this.clock.now();
    const step = nextStep(schedule, position, validUntil, now);
    const waits = (await findQueued(tx.db, schedule.name)) !== undefined;
    const next = step.kind === 'none' ? Infinity : step.kind === 'wait' ? step.until : now;
    const dueAt = waits ? Math.min(next, now + LOOK_AGAIN_MS) : next;
    if (dueAt !== Infinity) await this.timers.set(tx, 'tick', dueAt, schedule.name);
  }
}

/** The correlations of earlier ticks that the step cancels when it publishes its tick. */
function cancelledBy({ schedule, step, active, prepared }: Plan): string[] {
  if (schedule.overlap !== 'cancel_running' || step.kind !== 'publish' || !prepared?.matched) return [];
  return active.filter(({ scheduledFor }) => scheduledFor < step.tick).map(({ correlation }) => correlation);
}
