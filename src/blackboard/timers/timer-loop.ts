import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Catalog } from '../../catalog/catalog.js';
import type { RetryPolicy, Subscription } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { artifactFromRow } from '../artifacts/artifact.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { Cancellation } from '../execution/cancellation.js';
import { nextAttemptAt } from '../execution/retry.js';
import { DueTimes } from '../external/due-times.js';
import { BatchWindows } from '../joins/batch-windows.js';
import { countMemberBytes, findGroup, findMemberArtifacts } from '../joins/join-group-rows.js';
import { JoinRemoval } from '../joins/join-removal.js';
import { Joins } from '../joins/joins.js';
import { isWindow, lockKeyOf, lockKeysOf } from '../joins/lock-keys.js';
import { inOrderOfTypes, type Triggered } from '../matching/matcher.js';
import { Matching } from '../matching/matching.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { Publisher } from '../publishing/publisher.js';
import { ArtifactStore } from '../queries/artifact-store.js';
import { generationOf } from '../scheduling/deadlines.js';
import { findAgentOf } from '../scheduling/queued-execution-rows.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { findDueTimers, findNextDueTime, postponeTimer, type Timer } from '../scheduling/timer-rows.js';
import { type NeededByTimer, ParkedTimers } from './parked-timers.js';
import { TimerMemory } from './timer-memory.js';

const FIRED_AT_ONCE = 20;
const TRY_AGAIN_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;
/** The retries of a timer that could not be fired. They never end, because accepted work must be finished. */
const RETRY: RetryPolicy = { attempts: Infinity, delayMs: 1_000, maxDelayMs: 300_000 };

/** What a timer does, with the lock keys and the correlation that its transaction locks first. */
interface Work {
  lockKeys: string[];
  correlationId?: string;
  run: (tx: Transaction, changes: CorrelationChanges) => Promise<void>;
}

/** This process does not have the agent or subscription of the timer. */
interface NotHere {
  needs: NeededByTimer;
}

interface Prepared {
  timer: Timer;
  work: Work;
}

/** For a timer whose work another process has done already. */
const NOTHING: Work = { lockKeys: [], run: () => Promise.resolve() };

/**
 * Fires due timers in order of time. A timer that cannot be fired is postponed, so that it does not block the others.
 */
@Injectable()
export class TimerLoop {
  private working = false;
  private firing: Promise<void> | null = null;
  private lookAgain = false;
  private armedFor = Infinity;
  /** Timers that failed because the database was unavailable, in the last pass and in this one. */
  private doubtedBefore = new Set<string>();
  private doubted = new Set<string>();
  private cancel = (): void => undefined;
  private unsubscribe = (): void => undefined;

  constructor(
    private readonly catalog: Catalog,
    private readonly numbers: SubscriptionNumbers,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly timers: TimerQueue,
    private readonly tracker: CorrelationTracker,
    private readonly matching: Matching,
    private readonly publisher: Publisher,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
    private readonly artifacts: ArtifactStore,
    private readonly joinRemoval: JoinRemoval,
    private readonly cancellation: Cancellation,
    private readonly dueTimes: DueTimes,
    private readonly processes: Processes,
    private readonly parked: ParkedTimers,
    private readonly memory: TimerMemory,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Idempotent. */
  start(): void {
    if (this.working) return;
    this.working = true;
    this.unsubscribe = this.signals.timerSet.subscribe((time) => this.arm(time));
    this.arm(this.clock.now());
  }

  /** Polls for timers of other processes, which may have ended before they fired them. */
  @Interval(LOOK_AGAIN_MS)
  lookAtAll(): void {
    if (!this.unitOfWork.dialect.exclusive) this.arm(this.clock.now());
  }

  /** Stops firing. Resolves when the current pass has ended. */
  async stop(): Promise<void> {
    this.working = false;
    this.unsubscribe();
    this.cancel();
    await this.firing;
  }

  private arm(time: number): void {
    if (!this.working || time >= this.armedFor) return;
    this.cancel();
    this.armedFor = time;
    if (time <= this.clock.now()) {
      this.cancel = () => undefined;
      this.fire();
    } else {
      this.cancel = this.clock.at(time, () => this.fire());
    }
  }

  private fire(): void {
    this.armedFor = Infinity;
    if (this.firing) {
      this.lookAgain = true;
      return;
    }
    this.firing = this.fireDue().finally(() => {
      this.firing = null;
      // A timer that was set during this pass may have missed its last query.
      if (this.lookAgain) this.arm(this.clock.now());
      this.lookAgain = false;
    });
  }

  private async fireDue(): Promise<void> {
    [this.doubtedBefore, this.doubted] = [this.doubted, new Set()];
    try {
      let known: KnownWork;
      for (;;) {
        // Read in each round, because a process with more agents may have started since.
        known = await this.processes.known();
        const due = await findDueTimers(this.unitOfWork.reader, this.clock.now(), FIRED_AT_ONCE, known);
        if (due.length === 0 || !this.working) break;
        // Expressions are evaluated in parallel; the transactions then run in the order of the timers.
        const prepared = await Promise.all(due.map((timer) => this.prepareOrStepBack(timer)));
        if (!this.working) break;
        await this.commitAll(prepared.filter((each) => each !== null));
      }
      const next = await findNextDueTime(this.unitOfWork.reader, known);
      if (next !== null) this.arm(next);
    } catch (error) {
      this.logger.error({ err: error }, 'timers could not be fired; trying again');
      this.arm(this.clock.now() + TRY_AGAIN_AFTER_MS);
    }
  }

  private async prepareOrStepBack(timer: Timer): Promise<Prepared | null> {
    try {
      const work = await this.prepare(timer);
      if (!('needs' in work)) return { timer, work };
      await this.parked.park(timer, work.needs);
      return null;
    } catch (error) {
      await this.stepBack(timer, error);
      return null;
    }
  }

  /** With SQLite, transactions run in the order in which they are requested, so all can be requested together. */
  private async commitAll(all: Prepared[]): Promise<void> {
    if (this.unitOfWork.dialect.exclusive) await Promise.all(all.map((each) => this.commitOrStepBack(each)));
    else for (const each of all) await this.commitOrStepBack(each);
  }

  private async commitOrStepBack({ timer, work }: Prepared): Promise<void> {
    try {
      await this.commit(timer, work);
    } catch (error) {
      await this.stepBack(timer, error);
    }
  }

  /**
   * Postpones the timer. At the first `unavailable` error of a timer it rejects with the error instead, because the
   * whole database may be unavailable; if the timer fails again in the next pass, the cause may be the timer itself.
   */
  private async stepBack(timer: Timer, error: unknown): Promise<void> {
    if (isUnavailable(error) && !this.doubtedBefore.has(timer.id)) {
      this.doubted.add(timer.id);
      throw error;
    }
    const failures = timer.failures + 1;
    const nextTry = nextAttemptAt(RETRY, failures, this.clock.now(), Math.random());
    if (!(await this.unitOfWork.run((tx) => postponeTimer(tx, timer, nextTry)))) return;
    this.telemetry.timerFailed(timer.kind);
    this.logger.error(
      { err: error, timer: timer.kind, failures, next_try: toTimestamp(nextTry) },
      'a timer could not be fired; trying again',
    );
  }

  private commit(timer: Timer, work: Work): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(work.lockKeys);
      const changes = this.tracker.begin(tx, this.clock.now());
      if (work.correlationId !== undefined) await changes.get(work.correlationId);
      if (!(await this.timers.end(tx, timer))) return;
      await work.run(tx, changes);
      await changes.save();
    });
  }

  private prepare(timer: Timer): Promise<Work | NotHere> {
    switch (timer.kind) {
      case 'release':
        return this.prepareRelease(Number(timer.subject));
      case 'judge':
        return this.prepareJudgement(timer.subject);
      case 'close':
        return this.prepareClosing(timer.subject);
      case 'deadline':
        return this.prepareDeadline(generationOf(timer.subject));
      case 'due':
        return this.prepareDue(timer);
    }
  }

  private async prepareRelease(seq: number): Promise<Work> {
    const { type, correlationId, payloadBytes } = await this.artifacts.headAt(seq);
    const triggered = await this.memory.forPayloads(payloadBytes, () => this.triggeredBy(seq));
    const run: Work['run'] = async (tx, changes) => {
      await this.publisher.react(tx, changes, { seq, type, correlationId }, triggered);
      (await changes.get(correlationId)).pending -= 1;
    };
    return { lockKeys: lockKeysOf(triggered, this.numbers), correlationId, run };
  }

  private async triggeredBy(seq: number): Promise<Triggered[]> {
    const [row] = await this.artifacts.at([seq]);
    const artifact = artifactFromRow(row!);
    return this.matching.triggered({ artifact, visibility: artifact.visibility, createdAt: row!.created_at });
  }

  private async prepareJudgement(groupId: string): Promise<Work | NotHere> {
    const { reader } = this.unitOfWork;
    const group = await findGroup(reader, groupId);
    if (!group) return NOTHING;
    const subscription = this.numbers.find(group);
    if (!subscription) return { needs: group };
    const bytes = await countMemberBytes(reader, groupId);
    const passes = await this.memory.forPayloads(bytes, () => this.passes(subscription, groupId));
    return { lockKeys: [lockKeyOf(group)], run: (tx, changes) => this.joins.judged(tx, changes, group, passes) };
  }

  private async passes(subscription: Subscription, groupId: string): Promise<boolean> {
    const inputs = await findMemberArtifacts(this.unitOfWork.reader, groupId);
    return this.matching.groupPasses(subscription, inOrderOfTypes(subscription, inputs).map(artifactFromRow));
  }

  private async prepareClosing(groupId: string): Promise<Work | NotHere> {
    const group = await findGroup(this.unitOfWork.reader, groupId);
    if (!group) return NOTHING;
    if (!this.numbers.find(group)) return { needs: group };
    return { lockKeys: [lockKeyOf(group)], run: (tx, changes) => this.close(tx, changes, groupId) };
  }

  private async prepareDeadline(overdue: { id: string; generation: number }): Promise<Work> {
    const lockKeys = await this.joinRemoval.lockKeys(this.unitOfWork.reader, [overdue.id]);
    return {
      lockKeys,
      correlationId: overdue.id,
      run: (tx, changes) => this.cancellation.cancelOverdue(tx, changes, overdue),
    };
  }

  private async prepareDue({ subject: id, due_at, was_due_at }: Timer): Promise<Work | NotHere> {
    const execution = await findAgentOf(this.unitOfWork.reader, id);
    if (!execution) return NOTHING;
    if (!this.catalog.agent(execution.agent)) return { needs: { agent: execution.agent, subscription: null } };
    return {
      lockKeys: [],
      correlationId: execution.correlation_id,
      run: (tx, changes) => this.dueTimes.passed(tx, changes, id, was_due_at ?? due_at),
    };
  }

  private async close(tx: Transaction, changes: CorrelationChanges, groupId: string): Promise<void> {
    const group = await findGroup(tx.db, groupId);
    if (!group) return;
    if (isWindow(group)) await this.windows.close(tx, changes, group);
    else await this.joins.expire(tx, changes, group);
  }
}
