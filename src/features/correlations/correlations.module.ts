import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { CorrelationsController } from './correlations.controller.js';
import { CorrelationsRepository } from './correlations.repository.js';
import { CorrelationsService } from './correlations.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [CorrelationsController],
  providers: [CorrelationsRepository, CorrelationsService],
  exports: [CorrelationsService],
})
export class CorrelationsModule {}
