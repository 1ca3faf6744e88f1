import { Injectable } from '@nestjs/common';

import { ChangedLimits } from './changed-limits.js';
import { ExecutedVariants } from './executed-variants.js';
import { FormerHolds } from './former-holds.js';

/** Compares the database with the configuration file at a start. */
@Injectable()
export class LimitStart {
  constructor(
    private readonly changedLimits: ChangedLimits,
    private readonly variants: ExecutedVariants,
    private readonly formerHolds: FormerHolds,
  ) {}

  /** Logs the values that clients have changed, and forgets shares of limits that no longer have `hold`. */
  async prepare(): Promise<void> {
    await this.changedLimits.report();
    await this.variants.report();
    await this.formerHolds.forget();
  }
}
