import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ProcessesController } from './processes.controller.js';
import { ProcessesService } from './processes.service.js';
import { RunningExecutionsRepository } from './running-executions.repository.js';

@Module({
  imports: [BlackboardModule],
  controllers: [ProcessesController],
  providers: [ProcessesService, RunningExecutionsRepository],
})
export class ProcessesModule {}
