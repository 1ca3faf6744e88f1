import { Module } from '@nestjs/common';
import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { BatchDeletion } from './batch-deletion.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchNotices } from './batch-notices.js';
import { BatchResults } from './batch-results.js';
import { BatchStep } from './batch-step.js';
import { BatchesController } from './batches.controller.js';
import { BatchesRepository } from './batches.repository.js';
import { BatchesService } from './batches.service.js';
import { BatchIntake } from './intake/batch-intake.js';
import { IntakesRepository } from './intake/intakes.repository.js';
import { UnfinishedIntakes } from './intake/unfinished-intakes.js';
import { UploadSpace } from './intake/upload-space.js';
import { WaitingBytes } from './waiting-bytes.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule, RunsModule],
  controllers: [BatchesController],
  providers: [BatchDeletion, BatchDispatcher, BatchIntake, BatchNotices, BatchResults, BatchStep, BatchesRepository, BatchesService, IntakesRepository, UnfinishedIntakes, UploadSpace, WaitingBytes],
})
export class BatchesModule {}
