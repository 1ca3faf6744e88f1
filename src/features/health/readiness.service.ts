import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { type HealthCheckResult, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { sql } from 'kysely';

import { Executor } from '../../blackboard/execution/executor.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { Role } from '../../common/role.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const DATABASE_TIMEOUT_MS = 5_000;

/** Checks that the database answers and that the executor runs. */
@Injectable()
export class ReadinessService {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly unitOfWork: UnitOfWork,
    private readonly lifecycle: Lifecycle,
    private readonly role: Role,
    private readonly executor: Executor,
  ) {}

  /** Throws ServiceUnavailableException with Terminus' body if a part is down. */
  async check(): Promise<HealthCheckResult> {
    try {
      return await this.health.check([() => this.database(), () => this.work()]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      // Terminus has a third status while its shutdown hook runs; the API has only `ok` and `error` (docs/api.md, "Health and metrics").
      throw new ServiceUnavailableException({ ...(error.getResponse() as HealthCheckResult), status: 'error' });
    }
  }

  private database() {
    const probe = async (): Promise<void> => void (await sql`select 1`.execute(this.unitOfWork.reader));
    return this.indicators.check('database').attempt(probe).withTimeout(DATABASE_TIMEOUT_MS);
  }

  private work() {
    const reason = this.whyNotWorking();
    const indicator = this.indicators.check('executor');
    return reason === null ? indicator.up() : indicator.down(reason);
  }

  private whyNotWorking(): string | null {
    if (this.lifecycle.stopping) return 'shutting down';
    return this.role.worker ? this.executor.whyNotWorking() : null;
  }
}
