import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../signals/signals.js';
import { type ClaimedExecution, Claims } from './claims.js';
import { ExecutionRun } from './execution-run.js';
import { Leases } from './leases.js';
import { ReadyExecutions } from './ready-executions.js';
import { Slots } from './slots.js';

const CLAIM_AGAIN_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 2_000;
/** Others' transactions end within milliseconds; no time of the service's clock, but of the machine's. */
const MISSED_PAUSE_MS = 5;

/**
 * Claims waiting executions as slots are free and has them run. Wakes on signals; one round at a time, and a round that
 * the triggering transaction woke joins its group commit.
 */
@Injectable()
export class Executor {
  private readonly slots: Slots;
  // By claim and not by execution: a retry can be claimed before the attempt before it has left.
  private readonly running = new Map<ClaimedExecution, { abort: AbortController; done: Promise<void> }>();
  /** Agents that may have executions waiting. */
  private readonly hungry = new Set<string>();
  private claiming: Promise<void> | null = null;
  /** Executions that were cancelled while a round of claims was on its way, which may have claimed them. */
  private readonly cancelledMeanwhile = new Set<string>();
  private working = false;
  /** Why the last round of claims failed. */
  private trouble: string | null = null;
  private readonly unsubscribe: (() => void)[] = [];
  private cancelRetryTimer = (): void => undefined;
  private nextRetryAt = Infinity;

  constructor(
    settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly claims: Claims,
    private readonly ready: ReadyExecutions,
    private readonly leases: Leases,
    private readonly executionRun: ExecutionRun,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.slots = new Slots(catalog, settings.maxConcurrentExecutions);
  }

  /** Why it cannot work now; null where it can. */
  whyNotWorking(): string | null {
    return this.working ? this.trouble : 'the executor is not working';
  }

  runningIds(): string[] {
    return [...this.running.keys()].map(({ id }) => id);
  }

  /** Idempotent. */
  async start(): Promise<void> {
    if (this.working) return;
    this.working = true;
    this.unsubscribe.push(
      this.signals.executionReady.subscribe((agent) => this.wake(agent)),
      this.signals.executionReturned.subscribe((agent) => this.wakeForReturned(agent)),
      this.signals.retryScheduled.subscribe((time) => this.armRetryTimer(time)),
      this.signals.executionsCancelled.subscribe((ids) => this.abort(new Set(ids))),
      this.signals.mayHaveMissed.subscribe(() => this.lookAnew()),
    );
    await this.lookAtAll();
  }

  /** Other processes may have ended, or left something, without a word. */
  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    if (!this.unitOfWork.dialect.exclusive && this.working) void this.lookAtAll();
  }

  // A database that has crashed gives out numbers again that it had not yet written down.
  private lookAnew(): void {
    this.claims.forget();
    void this.lookAtAll();
  }

  private async lookAtAll(): Promise<void> {
    this.catalog.agents.forEach(({ name }) => this.hungry.add(name));
    await this.releaseRetries();
    this.claimSome();
  }

  /** Claims no more; resolves when what runs has ended, or `graceMs` later, and then hands back what is left. */
  async stop(graceMs: number): Promise<void> {
    this.working = false;
    this.unsubscribe.splice(0).forEach((unsubscribe) => unsubscribe());
    this.cancelRetryTimer();
    await this.claiming;
    if (await this.endsWithin(graceMs)) return;
    const left = [...this.running.values()];
    this.running.clear();
    left.forEach(({ abort }) => abort.abort(new DOMException('the service is shutting down', 'AbortError')));
    const handedBack = await this.leases.handBack();
    this.logger.warn({ executions: handedBack }, 'shutdown grace is over: running executions are handed back and start again with the next process');
  }

  private wake(agent: string): void {
    this.hungry.add(agent);
    this.claimSome();
    this.offerElsewhere([agent]);
  }

  private wakeForReturned(agent: string): void {
    this.ready.returned(agent);
    this.wake(agent);
  }

  // Each process that is told looks at once: for nothing, where this one has a slot itself.
  private offerElsewhere(agents: readonly string[]): void {
    const { byAgent } = this.slots.free(agents);
    for (const agent of agents) if (!byAgent.has(agent)) this.signals.executionReady.publishElsewhere(agent);
  }

  private claimSome(): void {
    if (!this.working || this.claiming || this.slots.free(this.hungry).byAgent.size === 0) return;
    this.claiming = this.claimRound().finally(() => {
      this.claiming = null;
      this.cancelledMeanwhile.clear();
      this.claimSome();
    });
  }

  // Their slots stay taken until the engines return; what these still answer, the lease's guard discards.
  private abort(cancelled: ReadonlySet<string>): void {
    if (this.claiming) cancelled.forEach((id) => this.cancelledMeanwhile.add(id));
    for (const [{ id }, { abort }] of this.running) {
      if (cancelled.has(id)) abort.abort(new DOMException('the execution was cancelled', 'AbortError'));
    }
  }

  private async claimRound(): Promise<void> {
    try {
      this.ready.look();
      let asked: string[] = [];
      const { claimed, moreWaiting, missed } = await this.unitOfWork.run((tx) => {
        // Where the database runs this again, it is for those too that it was run for first.
        asked.forEach((agent) => this.hungry.add(agent));
        // Taken here and not before: whoever woke us until now is served by this round.
        const slots = this.slots.free(this.hungry);
        asked = [...slots.byAgent.keys()];
        asked.forEach((agent) => this.hungry.delete(agent));
        return this.claims.claim(tx, slots, this.leases.next(), this.clock.now());
      }, { redoable: true });
      this.trouble = null;
      moreWaiting.forEach((agent) => this.hungry.add(agent));
      claimed.filter(({ id }) => !this.cancelledMeanwhile.has(id)).forEach((execution) => this.begin(execution));
      this.offerElsewhere(moreWaiting);
      if (missed && claimed.length === 0) await setTimeout(MISSED_PAUSE_MS);
    } catch (error) {
      this.trouble = isUnavailable(error) ? (error as Error).message : 'claiming executions failed';
      this.logger.error({ err: error }, 'claiming executions failed; trying again');
      this.claims.forget();
      await this.clock.sleep(CLAIM_AGAIN_AFTER_MS);
      await this.handBackUnknown();
      this.catalog.agents.forEach(({ name }) => this.hungry.add(name));
    }
  }

  // Whether the round was committed is not known: what it claimed, if it did, would wait until its leases have run out.
  private async handBackUnknown(): Promise<void> {
    try {
      if (!this.unitOfWork.dialect.exclusive && this.working) await this.leases.handBack(this.runningIds());
    } catch (error) {
      this.logger.debug({ err: error }, 'what a failed round may have claimed could not be handed back');
    }
  }

  private begin(execution: ClaimedExecution): void {
    // A retry has waited for its own delay, which says nothing of the queue.
    if (execution.attempt === 1) this.telemetry.executionClaimed(execution.agent, execution.waitedMs);
    this.slots.take(execution.agent);
    const abort = new AbortController();
    const free = once(() => {
      this.slots.release(execution.agent);
      // Its slot counts for all processes, and what waits for it may have been found by another one.
      if (!this.unitOfWork.dialect.exclusive) this.hungry.add(execution.agent);
      this.claimSome();
    });
    // A slot is held until the engine returns, which may be after its outcome.
    let hasReturned = false;
    const { committed, returned } = this.executionRun.start(execution, abort, {
      isOurs: () => this.running.has(execution),
      // The next claim joins the outcome's group commit: waiting for that commit would cost another one.
      onOutcomeVisible: () => hasReturned && free(),
    });
    const done = committed.finally(() => this.running.delete(execution));
    this.running.set(execution, { abort, done });
    void returned.then(() => {
      hasReturned = true;
    });
    void Promise.all([done, returned]).then(free);
  }

  private async endsWithin(graceMs: number): Promise<boolean> {
    if (this.running.size === 0) return true;
    let cancel = (): void => undefined;
    const grace = new Promise<false>((resolve) => {
      cancel = this.clock.at(this.clock.now() + graceMs, () => resolve(false));
    });
    const ended = Promise.allSettled([...this.running.values()].map(({ done }) => done)).then(() => true as const);
    return Promise.race([ended, grace]).finally(() => cancel());
  }

  private armRetryTimer(time: number): void {
    if (!this.working || time >= this.nextRetryAt) return;
    this.cancelRetryTimer();
    this.nextRetryAt = time;
    this.cancelRetryTimer = this.clock.at(time, () => void this.releaseRetries());
  }

  private async releaseRetries(): Promise<void> {
    this.nextRetryAt = Infinity;
    try {
      const agents = await this.unitOfWork.run((tx) => this.claims.releaseRetries(tx, this.clock.now()));
      agents.forEach((agent) => this.signals.executionReturned.publishEverywhere(agent));
      const next = await this.claims.nextRetry(this.unitOfWork.reader);
      if (next !== null) this.armRetryTimer(next);
    } catch (error) {
      this.logger.error({ err: error }, 'releasing retries failed');
      this.armRetryTimer(this.clock.now() + CLAIM_AGAIN_AFTER_MS);
    }
  }
}

function once(effect: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    effect();
  };
}
