import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ExpressionsModule } from '../../cel/expressions.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ReplayRoutesModule } from '../replays/replay-routes.module.js';
import { Conclusion } from './conclusion.js';
import { DataSets } from './data-sets.js';
import { DataSourcesRepository } from './data-sources.repository.js';
import { DefinitionChecks } from './definition-checks.js';
import { ExperimentControlService } from './experiment-control.service.js';
import { ExperimentCreationService } from './experiment-creation.service.js';
import { ExperimentDeletion } from './experiment-deletion.js';
import { ExperimentImport } from './experiment-import.js';
import { ExperimentLoop } from './experiment-loop.js';
import { ExperimentQueriesService } from './experiment-queries.service.js';
import { ExperimentRemoval } from './experiment-removal.js';
import { ExperimentRowsRepository } from './experiment-rows.repository.js';
import { ExperimentStep } from './experiment-step.js';
import { ExperimentsController } from './experiments.controller.js';
import { ExperimentsRepository } from './experiments.repository.js';
import { Judges } from './judges.js';
import { RowStore } from './row-store.js';
import { Scoring } from './scoring.js';
import { StoredDefinitions } from './stored-definitions.js';
import { Summaries } from './summaries.js';
import { TrialArtifactsRepository } from './trial-artifacts.repository.js';
import { TrialContents } from './trial-contents.js';
import { TrialEndings } from './trial-endings.js';
import { TrialFailures } from './trial-failures.js';
import { TrialProgress } from './trial-progress.js';
import { TrialStarts } from './trial-starts.js';
import { TrialStore } from './trial-store.js';
import { TrialsRepository } from './trials.repository.js';

@Module({
  imports: [BlackboardModule, ExpressionsModule, IdempotencyModule, ReplayRoutesModule],
  controllers: [ExperimentsController],
  providers: [
    Conclusion,
    DataSets,
    DataSourcesRepository,
    DefinitionChecks,
    ExperimentControlService,
    ExperimentCreationService,
    ExperimentDeletion,
    ExperimentImport,
    ExperimentLoop,
    ExperimentQueriesService,
    ExperimentRemoval,
    ExperimentRowsRepository,
    ExperimentStep,
    ExperimentsRepository,
    Judges,
    RowStore,
    Scoring,
    StoredDefinitions,
    Summaries,
    TrialArtifactsRepository,
    TrialContents,
    TrialEndings,
    TrialFailures,
    TrialProgress,
    TrialStarts,
    TrialStore,
    TrialsRepository,
  ],
})
export class ExperimentsModule {}
