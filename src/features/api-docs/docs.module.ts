import { Module } from '@nestjs/common';

import { Settings } from '../../config/settings.js';
import { ApiDocument } from './api-document.js';
import { DocsController } from './docs.controller.js';

@Module({
  controllers: [DocsController],
  providers: [
    { provide: ApiDocument, useFactory: (settings: Settings) => new ApiDocument(settings), inject: [Settings] },
  ],
})
export class DocsModule {}
