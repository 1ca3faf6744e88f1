import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { Held } from '../../http/bodies/held-body.js';
import { ArtifactFilterQuery } from '../../http/dto/artifact-filter-query.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import {
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { AgentsService } from './agents.service.js';
import { RUN_EXAMPLE, RUN_REQUEST_EXAMPLE, RunAgentBody, RunAgentRequest } from './dto/agent-run.js';
import { AGENT_NAMES_EXAMPLE, AgentNamesBody, AGENTS_EXAMPLE, AgentsBody } from './dto/agents-body.js';
import { HISTORY_EXAMPLE, HistoryBody, HourBody } from './dto/history-body.js';
import { AgentPauseBody, PAUSED_EXAMPLE, RESUMED_EXAMPLE } from './dto/pause-body.js';

const ApiAgentName = (): MethodDecorator =>
  ApiParam({ name: 'agent_name', description: "The agent's name", schema: { type: 'string', example: 'classifier' } });

@ApiTags('Agents')
@Controller('api/v1/agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get()
  @ApiOperation({ summary: 'List the agents', description: 'The agents come in the order of the configuration.' })
  @ApiOkResponse({ type: AgentsBody, description: 'All agents', example: AGENTS_EXAMPLE })
  list(): Promise<AgentsBody> {
    return this.agents.list();
  }

  @Post(':agent_name/run')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Run one agent',
    description:
      'Runs one execution of this agent in a new correlation. Inputs and outputs are stored; no agent reacts to them.',
  })
  @ApiAgentName()
  @ApiBody({ type: RunAgentRequest, examples: { message: { value: RUN_REQUEST_EXAMPLE } } })
  @ApiOkResponse({ type: RunAgentBody, description: 'The artifacts that the agent published', example: RUN_EXAMPLE })
  @ApiErrors(
    [400, 'inputs: classifier takes one CustomerMessage (got Intent)'],
    [404, 'Agent not found: classifer; did you mean classifier?'],
    [
      409,
      'Agent classifier did not run: its execution 019a9fe1-a6f1-7a11-8d3c-1f2e3d4c5b6a with the same key of singleton had not ended',
    ],
    [500, 'Agent classifier failed: the model could not be read'],
    503,
  )
  run(
    @Param('agent_name') name: string,
    @Body() request: RunAgentRequest,
    @Held() held: HeldRequest,
  ): Promise<TextInParts> {
    return this.agents.run(name, request, held);
  }

  @Post(':agent_name/pause')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Pause an agent',
    description:
      'No further execution of the agent starts, on any process, until the agent is resumed; restarts do not change ' +
      'that. Running executions continue, and pending ones keep their correlation open. Pausing a paused agent is ' +
      'a 200.',
  })
  @ApiAgentName()
  @ApiOkResponse({ type: AgentPauseBody, description: 'The paused agent', example: PAUSED_EXAMPLE })
  @ApiErrors([404, 'Agent not found: classifer; did you mean classifier?'], 503)
  pause(@Param('agent_name') name: string): Promise<AgentPauseBody> {
    return this.agents.pause(name);
  }

  @Post(':agent_name/resume')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Resume an agent',
    description: 'Its pending executions start as slots become free. Resuming an agent that is not paused is a 200.',
  })
  @ApiAgentName()
  @ApiOkResponse({ type: AgentPauseBody, description: 'The resumed agent', example: RESUMED_EXAMPLE })
  @ApiErrors([404, 'Agent not found: classifer; did you mean classifier?'], 503)
  resume(@Param('agent_name') name: string): Promise<AgentPauseBody> {
    return this.agents.resume(name);
  }

  @Get(':agent_id/history-summary')
  @ApiOperation({
    summary: 'Summarize the history of an agent',
    description:
      'With filters, only executions that consumed or produced a matching artifact count, and only matching ' +
      'artifacts are counted.',
  })
  @ApiParam({ name: 'agent_id', description: "The agent's name", schema: { type: 'string', example: 'classifier' } })
  @ApiExtraModels(HourBody)
  @ApiOkResponse({ type: HistoryBody, description: 'Totals, and counts for each hour', example: HISTORY_EXAMPLE })
  @ApiErrors(
    [400, 'Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24'],
    [404, 'Agent not found: classifer; did you mean classifier?'],
  )
  summarizeHistory(@Param('agent_id') name: string, @Query() query: ArtifactFilterQuery): Promise<HistoryBody> {
    return this.agents.summarizeHistory(name, query);
  }
}

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
