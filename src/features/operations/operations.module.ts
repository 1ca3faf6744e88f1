import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule],
  controllers: [OperationsController],
  providers: [OperationsService],
})
export class OperationsModule {}
