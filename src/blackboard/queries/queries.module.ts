import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../database/database.module.js';
import { ActivityFold } from './activity-fold.js';
import { ActivityTotals } from './activity-totals.js';
import { AgentHistory } from './agent-history.js';
import { AgentReaders } from './agent-reader.js';
import { ArtifactFold } from './artifact-fold.js';
import { ArtifactStore } from './artifact-store.js';
import { ArtifactTotals } from './artifact-totals.js';
import { ChangelogStore } from './changelog-store.js';
import { Folding } from './folding.js';
import { StoredTexts } from './stored-texts.js';

@Module({
  imports: [DatabaseModule],
  providers: [ActivityFold, ActivityTotals, AgentHistory, AgentReaders, ArtifactFold, ArtifactStore, ArtifactTotals, ChangelogStore, Folding, StoredTexts],
  exports: [ActivityTotals, AgentHistory, AgentReaders, ArtifactStore, ArtifactTotals, ChangelogStore, StoredTexts],
})
export class QueriesModule {}
