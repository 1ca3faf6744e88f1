import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck, type HealthCheckResult } from '@nestjs/terminus';
import { HealthBody, LIVE, NOT_READY, READY } from './dto/health-body.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  @Get()
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({ summary: 'Can the service do its work now?', description: 'The same as `/health/ready`.' })
  @ApiOkResponse({ type: HealthBody, description: 'Ready', example: READY })
  @ApiServiceUnavailableResponse({ type: HealthBody, description: 'Not ready, or shutting down', example: NOT_READY })
  health(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({ summary: 'Can the service do its work now?', description: 'Asks the database and the executor; 503 while shutting down.' })
  @ApiOkResponse({ type: HealthBody, description: 'Ready', example: READY })
  @ApiServiceUnavailableResponse({ type: HealthBody, description: 'Not ready, or shutting down', example: NOT_READY })
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }

  @Get('live')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({ summary: 'Does the process run?', description: 'Answers until the process ends, while it shuts down too.' })
  @ApiOkResponse({ type: HealthBody, description: 'The process runs', example: LIVE })
  live(): HealthBody {
    return LIVE;
  }
}
