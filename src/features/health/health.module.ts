import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { HealthController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  // Terminus would write lines of its own to the console for every probe that fails; the request's line says it.
  imports: [BlackboardModule, TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [ReadinessService],
})
export class HealthModule {}
