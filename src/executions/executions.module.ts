import { Module } from '@nestjs/common';
import { BlackboardModule } from '../blackboard/blackboard.module.js';
import { ExecutionsController } from './executions.controller.js';
import { ExecutionsRepository } from './executions.repository.js';
import { ExecutionsService } from './executions.service.js';

@Module({ imports: [BlackboardModule], controllers: [ExecutionsController], providers: [ExecutionsRepository, ExecutionsService] })
export class ExecutionsModule {}
