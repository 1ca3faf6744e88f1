import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { LimitsController } from './limits.controller.js';
import { LimitsService } from './limits.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [LimitsController],
  providers: [LimitsService],
})
export class LimitRoutesModule {}
