import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { RunDeletion } from './run-deletion.js';
import { RunEndings } from './run-endings.js';
import { RunEvents } from './run-events.js';
import { RunResults } from './run-results.js';
import { RunStarts } from './run-starts.js';
import { RunsController } from './runs.controller.js';
import { RunsRepository } from './runs.repository.js';
import { RunsService } from './runs.service.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule],
  controllers: [RunsController],
  providers: [RunDeletion, RunEndings, RunEvents, RunResults, RunsRepository, RunsService, RunStarts],
  exports: [RunDeletion, RunEndings, RunsService, RunStarts],
})
export class RunsModule {}
