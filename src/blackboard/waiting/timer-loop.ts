import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../signals/signals.js';
import { type ArtifactRow, artifactFromRow } from '../artifact.js';
import { BatchWindows } from './batch-windows.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlation-tracker.js';
import { Cancellation } from '../cancellation.js';
import { openingOf } from '../deadlines.js';
import { DueTimes } from '../external/due-times.js';
import { Workers } from '../executor/workers.js';
import { Joins } from './joins.js';
import type { Triggered } from '../matcher.js';
import { Matching } from '../matching.js';
import { Publisher } from '../publisher.js';
import { type Timer, TimerQueue } from './timer-queue.js';
import { linesOf } from './lines.js';
import { lineOf, WaitingGroups } from './waiting-groups.js';
import { Withdrawal } from './withdrawal.js';

const FIRED_AT_ONCE = 20;
const TRY_AGAIN_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;

/** What a timer does, and what its transaction holds from the beginning: lines by name, a correlation by its id. */
interface Work {
  lines: string[];
  correlationId?: string;
  run: (tx: Transaction, changes: CorrelationChanges) => Promise<void>;
}

/** Another process was quicker, so that nothing is left to do. */
const NOTHING: Work = { lines: [], run: () => Promise.resolve() };

/** Fires durable timers when they are due, in the order of their times. */
@Injectable()
export class TimerLoop {
  private working = false;
  private firing: Promise<void> | null = null;
  private lookAgain = false;
  private armedFor = Infinity;
  private cancel = (): void => undefined;
  private unsubscribe = (): void => undefined;

  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly timers: TimerQueue,
    private readonly tracker: CorrelationTracker,
    private readonly matching: Matching,
    private readonly publisher: Publisher,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
    private readonly groups: WaitingGroups,
    private readonly withdrawal: Withdrawal,
    private readonly cancellation: Cancellation,
    private readonly dueTimes: DueTimes,
    private readonly workers: Workers,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Idempotent. */
  start(): void {
    if (this.working) return;
    this.working = true;
    this.unsubscribe = this.signals.timerSet.subscribe((time) => this.arm(time));
    this.arm(this.clock.now());
  }

  /** Other processes set timers too, and may have ended before they fired them. */
  @Interval(LOOK_AGAIN_MS)
  lookAtAll(): void {
    if (!this.unitOfWork.dialect.exclusive) this.arm(this.clock.now());
  }

  /** Fires no more; resolves when what is being fired has ended. */
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
      // A timer that was set while firing may have come after the last look.
      if (this.lookAgain) this.arm(this.clock.now());
      this.lookAgain = false;
    });
  }

  private async fireDue(): Promise<void> {
    try {
      // What waits for an agent that only another process has would be taken for an agent's that was removed.
      const strangers = await this.workers.strangers();
      for (;;) {
        const due = await this.timers.due(this.unitOfWork.reader, this.clock.now(), FIRED_AT_ONCE, strangers);
        if (due.length === 0 || !this.working) break;
        // Expressions side by side; the transactions then queue in the order of the times.
        const works = await Promise.all(due.map((timer) => this.prepareOrReport(timer)));
        if (!this.working) break;
        const isAllCommitted = await this.commitAll(this.inOrder(due, works));
        if (works.includes(null) || !isAllCommitted) {
          this.arm(this.clock.now() + TRY_AGAIN_AFTER_MS);
          return;
        }
      }
      const next = await this.timers.next(this.unitOfWork.reader, strangers);
      if (next !== null) this.arm(next);
    } catch (error) {
      this.logger.error({ err: error }, 'firing timers failed');
      this.arm(this.clock.now() + TRY_AGAIN_AFTER_MS);
    }
  }

  /** What was prepared; of the releases only those before the first that was not, since they arrive in order. */
  private inOrder(due: Timer[], works: (Work | null)[]): { timer: Timer; work: Work }[] {
    const firstMissing = due.findIndex((timer, index) => timer.kind === 'release' && works[index] === null);
    return due.flatMap((timer, index) => {
      const work = works[index];
      const overtakes = timer.kind === 'release' && firstMissing >= 0 && index > firstMissing;
      return work && !overtakes ? [{ timer, work }] : [];
    });
  }

  // One timer that cannot be prepared now must not hold up the others.
  private async prepareOrReport(timer: Timer): Promise<Work | null> {
    try {
      return await this.prepare(timer);
    } catch (error) {
      this.report(timer, error);
      return null;
    }
  }

  /** False where some could not be committed. Queued all at once where transactions run in the order in which they were asked for. */
  private async commitAll(works: { timer: Timer; work: Work }[]): Promise<boolean> {
    if (this.unitOfWork.dialect.exclusive) {
      const committed = await Promise.all(works.map(({ timer, work }) => this.commitOrReport(timer, work)));
      return !committed.includes(false);
    }
    const failed = new Set<Timer['kind']>();
    for (const { timer, work } of works) {
      // Releases arrive in order.
      const overtakes = timer.kind === 'release' && failed.has('release');
      if (!overtakes && !(await this.commitOrReport(timer, work))) failed.add(timer.kind);
    }
    return failed.size === 0;
  }

  // Nor must one whose transaction fails; where the database is away, the others' would too.
  private async commitOrReport(timer: Timer, work: Work): Promise<boolean> {
    try {
      await this.commit(timer, work);
      return true;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      this.report(timer, error);
      return false;
    }
  }

  private report(timer: Timer, error: unknown): void {
    this.logger.error({ err: error, timer: timer.kind }, 'a timer could not be fired; trying again');
  }

  private commit(timer: Timer, work: Work): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(work.lines);
      const changes = this.tracker.begin(tx, this.clock.now());
      if (work.correlationId !== undefined) await changes.get(work.correlationId);
      if (!(await this.timers.end(tx, timer))) return;
      await work.run(tx, changes);
      await changes.save();
    });
  }

  private prepare(timer: Timer): Promise<Work> {
    switch (timer.kind) {
      case 'release':
        return this.prepareRelease(Number(timer.subject));
      case 'judge':
        return this.prepareJudgement(timer.subject);
      case 'close':
        return this.prepareClosing(timer.subject);
      case 'deadline':
        return this.prepareDeadline(openingOf(timer.subject));
      case 'due':
        return this.prepareDue(timer);
    }
  }

  private async prepareRelease(seq: number): Promise<Work> {
    const row: ArtifactRow = await this.unitOfWork.reader.selectFrom('artifacts').selectAll().where('seq', '=', seq).executeTakeFirstOrThrow();
    const artifact = artifactFromRow(row);
    const triggered: Triggered[] = await this.matching.triggered({ artifact, visibility: artifact.visibility, createdAt: row.created_at });
    const run: Work['run'] = async (tx, changes) => {
      const subject = { seq, type: row.type, correlationId: row.correlation_id };
      await this.publisher.react(tx, changes, subject, triggered);
      (await changes.get(row.correlation_id)).pending -= 1;
    };
    return { lines: linesOf(triggered), correlationId: row.correlation_id, run };
  }

  private async prepareJudgement(groupId: string): Promise<Work> {
    const { reader } = this.unitOfWork;
    const group = await this.groups.find(reader, groupId);
    if (!group) return NOTHING;
    const inputs = await reader
      .selectFrom('join_arrivals')
      .innerJoin('artifacts', 'artifacts.seq', 'join_arrivals.artifact_seq')
      .selectAll('artifacts')
      .where('join_arrivals.group_id', '=', groupId)
      .orderBy('join_arrivals.position')
      .execute();
    const subscription = this.catalog.agent(group.agent)?.subscriptions[group.subscription];
    const passes = subscription !== undefined && (await this.matching.groupPasses(subscription, inputs.map(artifactFromRow)));
    return { lines: [lineOf(group)], run: (tx, changes) => this.joins.judged(tx, changes, group, passes) };
  }

  private async prepareClosing(groupId: string): Promise<Work> {
    const group = await this.groups.find(this.unitOfWork.reader, groupId);
    return group ? { lines: [lineOf(group)], run: (tx, changes) => this.close(tx, changes, groupId) } : NOTHING;
  }

  private async prepareDeadline(overdue: { id: string; opening: number }): Promise<Work> {
    const lines = await this.withdrawal.lines(this.unitOfWork.reader, [overdue.id]);
    return { lines, correlationId: overdue.id, run: (tx, changes) => this.cancellation.cancelOverdue(tx, changes, overdue) };
  }

  private async prepareDue({ subject: id, due_at }: Timer): Promise<Work> {
    const execution = await this.unitOfWork.reader.selectFrom('executions').select('correlation_id').where('id', '=', id).executeTakeFirst();
    if (!execution) return NOTHING;
    return { lines: [], correlationId: execution.correlation_id, run: (tx, changes) => this.dueTimes.passed(tx, changes, id, due_at) };
  }

  private async close(tx: Transaction, changes: CorrelationChanges, groupId: string): Promise<void> {
    const group = await this.groups.find(tx.db, groupId);
    if (!group) return;
    const subscription = this.catalog.agent(group.agent)?.subscriptions[group.subscription];
    if (subscription?.batch) await this.windows.close(tx, changes, group);
    else await this.joins.expire(tx, changes, group);
  }
}
