import { Injectable } from '@nestjs/common';

import { ChangedLimits } from './changed-limits.js';
import { ExecutedVariants } from './executed-variants.js';

/** Logs at a start what the database says differently from the configuration file. */
@Injectable()
export class LimitReports {
  constructor(
    private readonly changedLimits: ChangedLimits,
    private readonly variants: ExecutedVariants,
  ) {}

  async report(): Promise<void> {
    await this.changedLimits.report();
    await this.variants.report();
  }
}
