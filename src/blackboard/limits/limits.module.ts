import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { ChangedLimits } from './changed-limits.js';
import { ClaimLimits } from './claim-limits.js';
import { LimitReleases } from './limit-releases.js';
import { LimitWaits } from './limit-waits.js';
import { SharedLimits } from './shared-limits.js';

@Module({
  imports: [DatabaseModule, SignalsModule],
  providers: [ChangedLimits, ClaimLimits, LimitReleases, LimitWaits, SharedLimits],
  exports: [ChangedLimits, ClaimLimits, LimitReleases, LimitWaits, SharedLimits],
})
export class LimitsModule {}
