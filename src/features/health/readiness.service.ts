import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult, HealthIndicatorService } from '@nestjs/terminus';
import { sql } from 'kysely';
import { Blackboard } from '../../blackboard/publishing/blackboard.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const DATABASE_TIMEOUT_MS = 5_000;

/** Whether this process can do its work now: its database answers and its executor runs. */
@Injectable()
export class ReadinessService {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly unitOfWork: UnitOfWork,
    private readonly blackboard: Blackboard,
  ) {}

  /** ServiceUnavailableException with Terminus' body where it cannot. */
  async check(): Promise<HealthCheckResult> {
    try {
      return await this.health.check([() => this.database(), () => this.executor()]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      // Terminus has a status of its own for the time of its shutdown hook; the contract knows `ok` and `error`.
      throw new ServiceUnavailableException({ ...(error.getResponse() as HealthCheckResult), status: 'error' });
    }
  }

  private database() {
    const probe = async (): Promise<void> => void (await sql`select 1`.execute(this.unitOfWork.reader));
    return this.indicators.check('database').attempt(probe).withTimeout(DATABASE_TIMEOUT_MS);
  }

  private executor() {
    const { ok, reason } = this.blackboard.health();
    const indicator = this.indicators.check('executor');
    return ok ? indicator.up() : indicator.down(reason);
  }
}
