import { Module } from '@nestjs/common';

import { SignalsModule } from '../../pubsub/signals.module.js';
import { ArtifactWriter } from './artifact-writer.js';

@Module({
  imports: [SignalsModule],
  providers: [ArtifactWriter],
  exports: [ArtifactWriter],
})
export class ArtifactWritingModule {}
