import { Controller, Get, Param } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { DefinitionsService } from './definitions.service.js';
import { DEFINITION_EXAMPLE, DefinitionBody } from './dto/definition-body.js';

@ApiTags('Agents')
@Controller('api/v1/definitions')
export class DefinitionsController {
  constructor(private readonly definitions: DefinitionsService) {}

  @Get(':digest')
  @ApiOperation({
    summary: 'Get what an agent was when it ran',
    description: "The `definition` of an execution is the digest of its agent's definition: options, schemas and code.",
  })
  @ApiParam({
    name: 'digest',
    description: 'The `definition` of an execution',
    schema: { type: 'string', example: DEFINITION_EXAMPLE.digest },
  })
  @ApiOkResponse({ type: DefinitionBody, description: 'The definition', example: DEFINITION_EXAMPLE })
  @ApiErrors([404, 'Definition not found: sha256:1234'])
  get(@Param('digest') digest: string): Promise<DefinitionBody> {
    return this.definitions.get(digest);
  }
}
