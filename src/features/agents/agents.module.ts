import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { AgentStates } from './agent-states.js';
import { AgentNamesController, AgentsController } from './agents.controller.js';
import { AgentsService } from './agents.service.js';

@Module({
  imports: [BlackboardModule],
  controllers: [AgentsController, AgentNamesController],
  providers: [AgentStates, AgentsService],
  exports: [AgentsService],
})
export class AgentsModule {}
