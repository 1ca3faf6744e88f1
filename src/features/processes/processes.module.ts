import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ProcessesController } from './processes.controller.js';
import { ProcessesService } from './processes.service.js';

@Module({ imports: [BlackboardModule], controllers: [ProcessesController], providers: [ProcessesService] })
export class ProcessesModule {}
