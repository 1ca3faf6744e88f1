import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { BatchDeletion } from './batch-deletion.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchEvents } from './batch-events.js';
import { BatchResults } from './batch-results.js';
import { BatchStep } from './batch-step.js';
import { BatchesController } from './batches.controller.js';
import { BatchesRepository } from './batches.repository.js';
import { BatchesService } from './batches.service.js';
import { BatchImport } from './import/batch-import.js';
import { ImportsRepository } from './import/imports.repository.js';
import { UnfinishedImports } from './import/unfinished-imports.js';
import { UploadSpace } from './import/upload-space.js';
import { WaitingBytes } from './waiting-bytes.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule, RunsModule],
  controllers: [BatchesController],
  providers: [
    BatchDeletion,
    BatchDispatcher,
    BatchImport,
    BatchEvents,
    BatchResults,
    BatchStep,
    BatchesRepository,
    BatchesService,
    ImportsRepository,
    UnfinishedImports,
    UploadSpace,
    WaitingBytes,
  ],
})
export class BatchesModule {}
