import { Module } from '@nestjs/common';

import { SignalsModule } from '../../pubsub/signals.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { ArtifactHandover } from './artifact-handover.js';
import { ArtifactWriter } from './artifact-writer.js';

@Module({
  imports: [CorrelationStateModule, SignalsModule],
  providers: [ArtifactHandover, ArtifactWriter],
  exports: [ArtifactHandover, ArtifactWriter],
})
export class ArtifactWritingModule {}
