import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { CorrelationPages } from './correlation-pages.js';
import { CorrelationSteps } from './correlation-steps.repository.js';
import { CorrelationsController } from './correlations.controller.js';
import { CorrelationsRepository } from './correlations.repository.js';
import { CorrelationsService } from './correlations.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [CorrelationsController],
  providers: [CorrelationPages, CorrelationsRepository, CorrelationsService, CorrelationSteps],
  exports: [CorrelationsService],
})
export class CorrelationsModule {}
