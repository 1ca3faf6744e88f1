import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ReplaysController } from './replays.controller.js';
import { ReplaysService } from './replays.service.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule],
  controllers: [ReplaysController],
  providers: [ReplaysService],
})
export class ReplayRoutesModule {}
