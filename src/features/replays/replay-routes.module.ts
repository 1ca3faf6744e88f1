import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { EnginesModule } from '../../engines/engines.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ReplaysController } from './replays.controller.js';
import { ReplaysService } from './replays.service.js';
import { RequestedChanges } from './requested-changes.js';

@Module({
  imports: [BlackboardModule, EnginesModule, IdempotencyModule],
  controllers: [ReplaysController],
  providers: [ReplaysService, RequestedChanges],
  exports: [RequestedChanges],
})
export class ReplayRoutesModule {}
