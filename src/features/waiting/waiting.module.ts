import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { CorrelationWaitingController, WaitingController } from './waiting.controller.js';
import { WaitingService } from './waiting.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [CorrelationWaitingController, WaitingController],
  providers: [WaitingService],
})
export class WaitingModule {}
