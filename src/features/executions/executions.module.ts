import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ExecutionListsService } from './execution-lists.service.js';
import { ExecutionsController } from './executions.controller.js';
import { ExecutionsRepository } from './executions.repository.js';
import { ExecutionsService } from './executions.service.js';
import { ExternalWorkController } from './external-work.controller.js';
import { ExternalWorkService } from './external-work.service.js';
import { FailuresService } from './failures.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [ExecutionsController, ExternalWorkController],
  providers: [ExecutionListsService, ExecutionsRepository, ExecutionsService, ExternalWorkService, FailuresService],
})
export class ExecutionsModule {}
