import { Controller, Get } from '@nestjs/common';

import { ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { PROCESSES_EXAMPLE, ProcessesBody } from './dto/processes-body.js';
import { ProcessesService } from './processes.service.js';

@ApiTags('Processes')
@Controller('api/v1/processes')
export class ProcessesController {
  constructor(private readonly processes: ProcessesService) {}

  @Get()
  @ApiOperation({
    summary: 'List the live processes',
    description:
      'Lists the processes that share the database. Executions of an agent wait while none of these processes has it, and ' +
      'so do those of a replay while none has its configuration.',
  })
  @ApiOkResponse({ type: ProcessesBody, description: 'All live processes', example: PROCESSES_EXAMPLE })
  list(): Promise<ProcessesBody> {
    return this.processes.list();
  }
}
