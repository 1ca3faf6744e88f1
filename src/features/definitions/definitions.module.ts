import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { DefinitionsController } from './definitions.controller.js';
import { DefinitionsRepository } from './definitions.repository.js';
import { DefinitionsService } from './definitions.service.js';

@Module({
  imports: [DatabaseModule],
  controllers: [DefinitionsController],
  providers: [DefinitionsRepository, DefinitionsService],
})
export class DefinitionsModule {}
