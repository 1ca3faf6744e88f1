import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult } from '@nestjs/terminus';

import {
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '../../http/openapi/documentation.js';
import { HealthBody, LIVE, NOT_READY, READY } from './dto/health-body.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  @Get()
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({ summary: 'Check readiness', description: 'Gives the same answer as `/health/ready`.' })
  @ApiOkResponse({ type: HealthBody, description: 'Ready', example: READY })
  @ApiServiceUnavailableResponse({ type: HealthBody, description: 'Not ready, or shutting down', example: NOT_READY })
  health(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({
    summary: 'Check readiness',
    description: 'Checks the database and the executor. It is 503 while shutting down.',
  })
  @ApiOkResponse({ type: HealthBody, description: 'Ready', example: READY })
  @ApiServiceUnavailableResponse({ type: HealthBody, description: 'Not ready, or shutting down', example: NOT_READY })
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }

  @Get('live')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({
    summary: 'Check liveness',
    description: 'Answers 200 until the process exits, also while it shuts down.',
  })
  @ApiOkResponse({ type: HealthBody, description: 'The process is running', example: LIVE })
  live(): HealthBody {
    return LIVE;
  }
}
