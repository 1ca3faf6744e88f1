import { Module } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Settings } from '../../config/settings.js';
import { ApiDocument } from './api-document.js';
import { DocsController } from './docs.controller.js';

@Module({
  controllers: [DocsController],
  providers: [
    {
      provide: ApiDocument,
      useFactory: (settings: Settings, catalog: Catalog) => new ApiDocument(settings, catalog),
      inject: [Settings, Catalog],
    },
  ],
})
export class DocsModule {}
