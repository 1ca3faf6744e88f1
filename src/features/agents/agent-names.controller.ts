import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';

import { AgentsService } from './agents.service.js';
import { AGENT_NAMES_EXAMPLE, AgentNamesBody } from './dto/agent-names-body.js';

@ApiTags('Runs')
@Controller('agents')
export class AgentNamesController {
  constructor(private readonly agents: AgentsService) {}

  @Get()
  @ApiOperation({
    summary: 'List the agents that can be run',
    description: 'The agents come in the order of the configuration.',
  })
  @ApiOkResponse({ type: AgentNamesBody, description: 'All agents', example: AGENT_NAMES_EXAMPLE })
  list(): AgentNamesBody {
    return this.agents.names();
  }
}
