import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { SchedulingModule } from '../scheduling/scheduling.module.js';
import { DueTimes } from './due-times.js';
import { ExternalClaims } from './external-claims.js';
import { ExternalLeases } from './external-leases.js';
import { OpenExternalWork } from './open-external-work.js';
import { WaitingClaims } from './waiting-claims.js';

@Module({
  imports: [DatabaseModule, ExecutionModule, LimitsModule, SchedulingModule, SignalsModule],
  providers: [DueTimes, ExternalClaims, ExternalLeases, OpenExternalWork, WaitingClaims],
  exports: [DueTimes, ExternalClaims, ExternalLeases, OpenExternalWork, WaitingClaims],
})
export class ExternalWorkModule {}
