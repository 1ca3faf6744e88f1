import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { BlockedExecutions } from './blocked-executions.js';
import { Breakers } from './breakers.js';
import { ChangedLimits } from './changed-limits.js';
import { ClaimLimits } from './claim-limits.js';
import { ExecutedVariants } from './executed-variants.js';
import { FormerHolds } from './former-holds.js';
import { LimitHolders } from './limit-holders.js';
import { LimitQueues } from './limit-queues.js';
import { LimitReleases } from './limit-releases.js';
import { LimitStart } from './limit-start.js';
import { LimitWaits } from './limit-waits.js';
import { SharedLimits } from './shared-limits.js';

@Module({
  imports: [DatabaseModule, SignalsModule],
  providers: [
    BlockedExecutions,
    Breakers,
    ChangedLimits,
    ClaimLimits,
    ExecutedVariants,
    FormerHolds,
    LimitHolders,
    LimitQueues,
    LimitReleases,
    LimitStart,
    LimitWaits,
    SharedLimits,
  ],
  exports: [
    Breakers,
    ChangedLimits,
    ClaimLimits,
    ExecutedVariants,
    LimitQueues,
    LimitReleases,
    LimitStart,
    LimitWaits,
    SharedLimits,
  ],
})
export class LimitsModule {}
