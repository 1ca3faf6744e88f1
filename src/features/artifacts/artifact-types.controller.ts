import { Controller, Get, Param } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { ArtifactQueriesService } from './artifact-queries.service.js';
import { ARTIFACT_TYPES_EXAMPLE, ArtifactTypeBody, ArtifactTypesBody } from './dto/artifact-types-body.js';

@ApiTags('Artifacts')
@Controller('api/v1/artifact-types')
export class ArtifactTypesController {
  constructor(private readonly queries: ArtifactQueriesService) {}

  @Get()
  @ApiOperation({
    summary: 'List the known artifact types',
    description: 'Lists types that the configuration declares, and types that agents consume or publish.',
  })
  @ApiOkResponse({ type: ArtifactTypesBody, description: 'All types', example: ARTIFACT_TYPES_EXAMPLE })
  list(): ArtifactTypesBody {
    return this.queries.types();
  }

  @Get(':name')
  @ApiOperation({ summary: 'Get one artifact type', description: 'With the JSON Schema of its payloads.' })
  @ApiParam({ name: 'name', description: "The type's name", schema: { type: 'string', example: 'CustomerMessage' } })
  @ApiOkResponse({ type: ArtifactTypeBody, description: 'The type', example: ARTIFACT_TYPES_EXAMPLE.artifact_types[0] })
  @ApiErrors([404, 'Artifact type not found: CustomerMesage; did you mean CustomerMessage?'])
  get(@Param('name') name: string): ArtifactTypeBody {
    return this.queries.type(name);
  }
}
