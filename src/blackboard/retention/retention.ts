import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { SchedulerLocks } from '../processes/scheduler-locks.repository.js';
import { ArtifactDeletion } from './artifact-deletion.js';
import { Cleanup, type Deletion } from './cleanup.js';
import { ExecutionDeletion } from './execution-deletion.js';

const TICK_MS = 10_000;
const EVERY_MS = 600_000;

/** Deletes in the background what has been kept long enough. Features add their own deletions. */
@Injectable()
export class Retention implements OnModuleDestroy {
  private readonly work: BackgroundLoop;
  private readonly ofFeatures: Deletion[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly unitOfWork: UnitOfWork,
    private readonly locks: SchedulerLocks,
    private readonly artifacts: ArtifactDeletion,
    private readonly executions: ExecutionDeletion,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    // Keeping data for longer is harmless.
    const failure = 'expired data could not be deleted';
    this.work = new BackgroundLoop(() => this.runIfDue(), { clock, logger, failure });
  }

  /** Call this when a feature starts, before the first cleanup. */
  add(deletion: Deletion): void {
    this.ofFeatures.push(deletion);
  }

  /**
   * Resolves when everything due has been deleted. Does nothing if the cleanup is not due or this process lacks the
   * worker role.
   */
  @Interval(TICK_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async runIfDue(): Promise<void> {
    const lock = await this.locks.take('retention', EVERY_MS);
    if (!lock) return;
    const isStopped = (): boolean => this.work.stopped;
    await this.cleanup(new Cleanup(this.clock.now(), this.settings.retainKeysMs, this.unitOfWork, lock, isStopped));
  }

  // Features run first: what only they needed can then be deleted in the same run.
  private async cleanup(cleanup: Cleanup): Promise<void> {
    const deleted: Record<string, number> = {};
    for (const deletion of [...this.ofFeatures, this.artifacts, this.executions]) {
      const count = await deletion.run(cleanup);
      if (count > 0) deleted[deletion.name] = count;
    }
    if (Object.keys(deleted).length > 0) this.logger.info({ deleted }, 'retention deleted expired data');
  }
}
