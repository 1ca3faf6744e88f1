import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal, mayRunOutside } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { type ClaimHolder, ClaimingLoop, type StartedRun } from '../../queue/claiming-loop.js';
import { Slots } from '../../queue/slots.js';
import { type ClaimedExecution, Claims } from './claims.js';
import { ExecutionRun } from './execution-run.js';
import { Leases } from './leases.js';

const LOOK_AGAIN_MS = 2_000;

/** Claims waiting executions from the queues of their agents, and runs them. */
@Injectable()
export class Executor {
  private readonly loop;
  private unsubscribe = (): unknown => undefined;

  constructor(
    settings: Settings,
    catalog: Catalog,
    clock: Clock,
    unitOfWork: UnitOfWork,
    claims: Claims,
    leases: Leases,
    private readonly executionRun: ExecutionRun,
    private readonly signals: Signals,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new ClaimingLoop(
      {
        name: 'executions',
        // Even a single process shares the limit with clients and remote agents that hold executions.
        isLimitShared: (agent) => !unitOfWork.dialect.exclusive || mayRunOutside(catalog.agent(agent)),
        queueOf: ({ agent }: ClaimedExecution) => agent,
        queues: () => catalog.agents.filter((agent) => !isExternal(agent)).map(({ name }) => name),
        claim: (tx, slots, lease, now) => claims.claim(tx, slots, lease, now),
        start: (execution: ClaimedExecution, abort, holder) => this.run(execution, abort, holder),
      },
      new Slots((agent) => slotsOf(catalog.agent(agent)), settings.maxConcurrentExecutions),
      claims.rows,
      leases.rows,
      {
        ready: signals.executionReady,
        returned: signals.executionReturned,
        retryScheduled: signals.retryScheduled,
        resync: signals.resync,
      },
      clock,
      unitOfWork,
      logger,
    );
  }

  /** Why the executor cannot work now; null if it can. */
  whyNotWorking(): string | null {
    return this.loop.isWorking ? this.loop.whyNotClaiming : 'the executor is not running';
  }

  runningIds(): string[] {
    return this.loop.runningIds();
  }

  /** Idempotent. */
  async start(): Promise<void> {
    if (this.loop.isWorking) return;
    this.unsubscribe = this.signals.executionsCancelled.subscribe((ids) => this.abort(ids));
    await this.loop.start();
  }

  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    this.loop.lookAgain();
  }

  /** Stops claiming. Waits until running attempts have ended, at most `graceMs`, and then hands back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.unsubscribe();
    await this.loop.stop(graceMs);
  }

  private abort(cancelled: readonly string[]): void {
    this.loop.abort(new Set(cancelled), new DOMException('the execution was cancelled', 'AbortError'));
  }

  private run(execution: ClaimedExecution, abort: AbortController, holder: ClaimHolder): StartedRun {
    // A retry has waited for its delay, which says nothing about the queue.
    if (execution.attempt === 1) this.telemetry.executionClaimed(execution.agent, execution.waitedMs);
    return this.executionRun.start(execution, abort, holder);
  }
}

/** No slots for external agents, so that their wake-ups go to other processes, where clients may wait for the work. */
const slotsOf = (agent: AgentDefinition | undefined): number => (!agent || isExternal(agent) ? 0 : agent.concurrency);
