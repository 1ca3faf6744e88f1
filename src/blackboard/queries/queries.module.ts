import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { ActivityCounts } from './activity-counts.repository.js';
import { ActivityRollup } from './activity-rollup.js';
import { ActivitySince } from './activity-since.repository.js';
import { ActivityTotals } from './activity-totals.repository.js';
import { AgentHistory } from './agent-history.js';
import { AgentReaders } from './agent-reader.js';
import { ArtifactRollup } from './artifact-rollup.js';
import { ArtifactStore } from './artifact-store.js';
import { ArtifactTotals } from './artifact-totals.js';
import { ChangelogStore } from './changelog-store.js';
import { FailureGroups } from './failure-groups.repository.js';
import { FailureRollup } from './failure-rollup.js';
import { Rollups } from './rollups.js';
import { StoredTexts } from './stored-texts.js';
import { ArtifactTermRollup, ExecutionTermRollup } from './term-rollups.js';
import { VariantHistory } from './variant-history.js';

@Module({
  imports: [DatabaseModule],
  providers: [
    ActivityCounts,
    ActivityRollup,
    ActivitySince,
    ActivityTotals,
    AgentHistory,
    AgentReaders,
    ArtifactRollup,
    ArtifactStore,
    ArtifactTermRollup,
    ArtifactTotals,
    ChangelogStore,
    ExecutionTermRollup,
    FailureGroups,
    FailureRollup,
    Rollups,
    StoredTexts,
    VariantHistory,
  ],
  exports: [
    ActivityCounts,
    ActivitySince,
    ActivityTotals,
    AgentHistory,
    AgentReaders,
    ArtifactStore,
    ArtifactTotals,
    ChangelogStore,
    FailureGroups,
    StoredTexts,
    VariantHistory,
  ],
})
export class QueriesModule {}
