import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';

import { unknownAgent } from '../catalog/unknown-names.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import type { JsonObject } from '../common/json.js';
import { Lifecycle } from '../common/lifecycle.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Role } from '../common/role.js';
import { Settings } from '../config/settings.js';
import { type Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { Signals } from '../pubsub/signals.js';
import { AgentRemoval } from './agent-removal.js';
import { CorrelationTracker } from './correlations/correlation-tracker.js';
import { CorrelationWaiters } from './correlations/correlation-waiters.js';
import { AgentPauses } from './execution/agent-pauses.js';
import { Cancellation } from './execution/cancellation.js';
import { Executor } from './execution/executor.js';
import { LeaseWatch } from './execution/lease-watch.js';
import { Leases } from './execution/leases.js';
import { FailedExecutions } from './failed-executions.js';
import { Presence } from './presence/presence.js';
import { Processes } from './processes/processes.js';
import {
  Blackboard,
  type DirectRun,
  type Ended,
  type Invocation,
  type Publication,
  type Published,
} from './publishing/blackboard.js';
import { DirectRuns } from './publishing/direct-runs.js';
import { namedInputs } from './publishing/input-fit.js';
import { Invocations } from './publishing/invocations.js';
import { Publisher } from './publishing/publisher.js';
import type { Item } from './queries/stored-pieces.js';
import { Backlog } from './scheduling/backlog.js';
import { WaitingArrivals } from './scheduling/waiting-arrivals.js';
import { TimerLoop } from './timers/timer-loop.js';

const RETRY_AFTER_SECONDS = 5;

/**
 * The facade of the core, and its start and stop. Start: recover lost leases, then begin to work. Stop: accept nothing
 * more, wait for running attempts within the grace period, then hand back the rest.
 */
@Injectable()
export class BlackboardService extends Blackboard implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private cancelHeartbeat = (): void => undefined;
  private beating = false;
  private lastBeat = Promise.resolve();

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    private readonly role: Role,
    private readonly publisher: Publisher,
    private readonly directRuns: DirectRuns,
    private readonly invocations: Invocations,
    private readonly cancellation: Cancellation,
    private readonly failedExecutions: FailedExecutions,
    private readonly tracker: CorrelationTracker,
    private readonly waiters: CorrelationWaiters,
    private readonly executor: Executor,
    private readonly timers: TimerLoop,
    private readonly leases: Leases,
    private readonly leaseWatch: LeaseWatch,
    private readonly processes: Processes,
    private readonly presence: Presence,
    private readonly agentRemoval: AgentRemoval,
    private readonly pauses: AgentPauses,
    private readonly signals: Signals,
    private readonly unitOfWork: UnitOfWork,
    private readonly backlog: Backlog,
    private readonly arrivals: WaitingArrivals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async publish(publication: Publication): Promise<Published> {
    await this.refuseWhenBusy();
    return this.publisher.publish(publication);
  }

  waitUntilSettled(correlationId: string, generation: number, timeoutMs: number): Promise<boolean> {
    return this.waiters.wait(correlationId, generation, timeoutMs);
  }

  async beginDirectRun(
    agent: string,
    inputs: { type: string; payload: JsonObject }[],
    correlationId: string,
  ): Promise<DirectRun> {
    await this.refuseWhenBusy();
    return this.directRuns.begin(agent, inputs, correlationId);
  }

  outputsOf(run: DirectRun): Promise<Item[]> {
    return this.directRuns.outputsOf(run);
  }

  prepareRun(
    name: string,
    inputs: JsonObject,
    correlationId: string,
    how: { firstId: string; background: boolean; deadlineMs?: number | null },
  ): Invocation {
    const { subscription, named } = namedInputs(this.invocations.agent(name), inputs);
    return this.invocations.prepare(subscription, named, correlationId, how);
  }

  async begin(tx: Transaction, invocation: Invocation): Promise<{ executionId: string; generation: number }> {
    const changes = this.tracker.begin(tx, this.clock.now(), invocation.cause);
    const begun = await this.invocations.begin(tx, changes, invocation);
    await changes.save();
    return begun;
  }

  async beginFailed(tx: Transaction, correlationId: string): Promise<void> {
    const changes = this.tracker.begin(tx, this.clock.now());
    await changes.createFailed(correlationId);
    await changes.save();
  }

  async cancel(tx: Transaction, correlationId: string): Promise<void> {
    const changes = this.tracker.begin(tx, this.clock.now());
    await this.cancellation.cancel(tx, changes, correlationId);
    await changes.save();
  }

  async cancelOpen(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    const changes = this.tracker.begin(tx, this.clock.now());
    await this.cancellation.cancelOpen(tx, changes, correlationIds);
    await changes.save();
  }

  async retryExecution(tx: Transaction, executionId: string): Promise<void> {
    const changes = this.tracker.begin(tx, this.clock.now());
    await this.failedExecutions.retry(tx, changes, executionId);
    await changes.save();
  }

  async refuseWhenBusy(): Promise<void> {
    this.refuseWhenStopping();
    // Executions of paused agents count too, so the refusal names these agents: resuming them makes room.
    if (this.backlog.isFull) this.backlog.refuse([...(await this.pausedAgents()).keys()]);
  }

  failWithoutAgent(agent: string): Promise<Ended> {
    return this.agentRemoval.fail(agent);
  }

  async isWithoutProcess(agent: string): Promise<boolean> {
    return !(await this.processes.known()).hasAgent(agent);
  }

  async pauseAgent(tx: Transaction, name: string): Promise<number> {
    await this.refuseUnknownAgent(tx, name);
    return this.pauses.pause(tx, name);
  }

  async resumeAgent(tx: Transaction, name: string): Promise<void> {
    await this.refuseUnknownAgent(tx, name);
    await this.pauses.resume(tx, name);
  }

  pausedAgents(): Promise<ReadonlyMap<string, number>> {
    return this.pauses.all(this.unitOfWork.reader);
  }

  health(): { ok: boolean; reason?: string } {
    if (this.lifecycle.stopping) return { ok: false, reason: 'shutting down' };
    const reason = this.role.worker ? this.executor.whyNotWorking() : null;
    return reason === null ? { ok: true } : { ok: false, reason };
  }

  waitingExecutions(): number {
    return this.backlog.count;
  }

  waitingArrivals(): number {
    return this.arrivals.count;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.presence.come();
    if (this.role.worker) await this.recover();
    else this.leaveWorkToOthers();
    await this.presence.count();
    await this.arrivals.recount();
    if (this.role.worker) {
      await this.executor.start();
      this.timers.start();
      this.leaseWatch.start();
    }
    this.beating = true;
    this.armHeartbeat();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.lifecycle.stop();
    this.leaseWatch.stop();
    // Stopped together, so that neither takes new work while the other one is stopping.
    await Promise.all([this.timers.stop(), this.executor.stop(this.settings.shutdownGraceMs)]);
    this.beating = false;
    this.cancelHeartbeat();
    this.waiters.releaseAll();
    // A heartbeat that is running may register this process again after it has signed off.
    await this.lastBeat;
    await this.presence.leave();
  }

  private leaveWorkToOthers(): void {
    this.signals.executionReady.subscribe((agent) => this.signals.executionReady.publishElsewhere(agent));
    this.signals.timerSet.subscribe((time) => this.signals.timerSet.publishElsewhere(time));
  }

  private async recover(): Promise<void> {
    const takenOver = await this.leases.rows.takeOverLost();
    if (takenOver > 0)
      this.logger.warn({ executions: takenOver }, 'took over executions that a process left running when it ended');
  }

  private armHeartbeat(): void {
    this.cancelHeartbeat = this.clock.at(this.clock.now() + this.settings.leaseMs / 3, () => {
      this.lastBeat = this.beat();
    });
  }

  private async beat(): Promise<void> {
    try {
      await this.leases.rows.renew(this.executor.runningIds());
      await this.presence.stay();
      if (this.role.worker) await this.leases.rows.takeOverLost();
    } catch (error) {
      this.logger.warn({ err: error }, 'leases could not be renewed; trying again');
    }
    // The heartbeat continues in the grace period, because this process still holds the leases of running attempts.
    if (this.beating) this.armHeartbeat();
  }

  private async refuseUnknownAgent(tx: Transaction, name: string): Promise<void> {
    if (!(await this.processes.isConfigured(tx.db, name))) throw unknownAgent(name);
  }

  private refuseWhenStopping(): void {
    if (this.lifecycle.stopping) {
      throw new DomainError('unavailable', 'The service is shutting down; try again', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }
}
