import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { BatchControlService } from './batch-control.service.js';
import { BatchCreationService } from './batch-creation.service.js';
import { BatchDeletion } from './batch-deletion.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchEvents } from './batch-events.js';
import { BatchFailures } from './batch-failures.js';
import { BatchQueriesService } from './batch-queries.service.js';
import { BatchResults } from './batch-results.js';
import { BatchRowsRepository } from './batch-rows.repository.js';
import { BatchRunEndings } from './batch-run-endings.js';
import { BatchStep } from './batch-step.js';
import { BatchesController } from './batches.controller.js';
import { BatchesRepository } from './batches.repository.js';
import { BatchImport } from './import/batch-import.js';
import { ImportsRepository } from './import/imports.repository.js';
import { UnfinishedImports } from './import/unfinished-imports.js';
import { UploadSpace } from './import/upload-space.js';
import { WaitingBytes } from './waiting-bytes.js';

@Module({
  imports: [BlackboardModule, IdempotencyModule, RunsModule],
  controllers: [BatchesController],
  providers: [
    BatchControlService,
    BatchCreationService,
    BatchDeletion,
    BatchDispatcher,
    BatchEvents,
    BatchFailures,
    BatchImport,
    BatchQueriesService,
    BatchResults,
    BatchRowsRepository,
    BatchRunEndings,
    BatchStep,
    BatchesRepository,
    ImportsRepository,
    UnfinishedImports,
    UploadSpace,
    WaitingBytes,
  ],
})
export class BatchesModule {}
