import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { CascadesRepository } from './cascades.repository.js';
import { CompareController } from './compare.controller.js';
import { CompareService } from './compare.service.js';
import { ComparedExecutions } from './compared-executions.repository.js';
import { PayloadComparison } from './payload-comparison.js';

@Module({
  imports: [BlackboardModule],
  controllers: [CompareController],
  providers: [CascadesRepository, ComparedExecutions, CompareService, PayloadComparison],
})
export class CompareModule {}
