import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { ClaimingLoop } from '../../queue/claiming-loop.js';
import type { ClaimedExecution } from './claimed-execution.js';
import { Claims } from './claims.js';
import { ExecutionRun } from './execution-run.js';
import { ExecutionSlots } from './execution-slots.js';
import type { InputRow } from './input-rows.js';
import type { ExecutionRow } from './leased-executions.js';
import { Leases } from './leases.js';

const LOOK_AGAIN_MS = 1_500;

export type ExecutionLoop = ClaimingLoop<ClaimedExecution, ExecutionRow, InputRow>;

/** Claims waiting executions from the queues of their agents, and runs them. */
@Injectable()
export class Executor {
  readonly loop: ExecutionLoop;
  private unsubscribe = (): unknown => undefined;

  constructor(
    slots: ExecutionSlots,
    claims: Claims,
    leases: Leases,
    executionRun: ExecutionRun,
    private readonly signals: Signals,
    clock: Clock,
    unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new ClaimingLoop(
      {
        name: 'executions',
        isLimitShared: (agent) => slots.isLimitShared(agent),
        queueOf: ({ agent }: ClaimedExecution) => agent,
        queues: () => slots.agents,
        claim: (tx, free, lease) => claims.claim(tx, free, lease),
        start: (execution: ClaimedExecution, abort, holder) => {
          const run = executionRun.start(execution, abort, holder);
          if (execution.limitKeys !== null) void run.committed.then(() => claims.freeLimits(execution.limitKeys!));
          return run;
        },
      },
      slots,
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
}
