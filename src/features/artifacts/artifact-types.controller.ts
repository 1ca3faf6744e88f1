import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ArtifactQueriesService } from './artifact-queries.service.js';
import { ARTIFACT_TYPES_EXAMPLE, ArtifactTypesBody } from './dto/artifact-types-body.js';

@ApiTags('Artifacts')
@Controller('api/v1/artifact-types')
export class ArtifactTypesController {
  constructor(private readonly queries: ArtifactQueriesService) {}

  @Get()
  @ApiOperation({ summary: 'List the known artifact types', description: 'Those that the configuration declares, and those that agents mention.' })
  @ApiOkResponse({ type: ArtifactTypesBody, description: 'All types', example: ARTIFACT_TYPES_EXAMPLE })
  list(): ArtifactTypesBody {
    return this.queries.types();
  }
}
