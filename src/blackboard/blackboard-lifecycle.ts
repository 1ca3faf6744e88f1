import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';

import { Lifecycle } from '../common/lifecycle.js';
import { Role } from '../common/role.js';
import { Signals } from '../pubsub/signals.js';
import { CorrelationWaiters } from './correlations/correlation-waiters.js';
import { Heartbeat } from './heartbeat.js';
import { Presence } from './presence/presence.js';
import { WaitingArrivals } from './scheduling/waiting-arrivals.js';
import { WorkerLoops } from './worker-loops.js';

/** The order in which the core starts and stops. */
@Injectable()
export class BlackboardLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly role: Role,
    private readonly presence: Presence,
    private readonly arrivals: WaitingArrivals,
    private readonly waiters: CorrelationWaiters,
    private readonly workerLoops: WorkerLoops,
    private readonly heartbeat: Heartbeat,
    private readonly signals: Signals,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.presence.come();
    if (this.role.worker) await this.workerLoops.recover();
    else this.leaveWorkToOthers();
    await this.presence.count();
    await this.arrivals.recount();
    if (this.role.worker) await this.workerLoops.start();
    this.heartbeat.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.lifecycle.stop();
    // The heartbeat continues in the grace period, because this process still holds the leases of running attempts.
    await this.workerLoops.stop();
    this.waiters.releaseAll();
    await this.heartbeat.stop();
    await this.presence.leave();
  }

  private leaveWorkToOthers(): void {
    this.signals.executionReady.subscribe((agent) => this.signals.executionReady.publishElsewhere(agent));
    this.signals.timerSet.subscribe((time) => this.signals.timerSet.publishElsewhere(time));
    this.signals.leaseDeferred.subscribe((until) => this.signals.leaseDeferred.publishElsewhere(until));
  }
}
