import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { HealthController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  // Terminus' logger would write further lines for every failed probe; the log line of the request is enough.
  imports: [BlackboardModule, TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [ReadinessService],
})
export class HealthModule {}
