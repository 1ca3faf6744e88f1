import { Controller, Get, Header } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '../../http/openapi/documentation.js';
import { MetricsRegistry } from './metrics-registry.js';

const EXAMPLE = `# HELP blackboard_artifacts_total Artifacts published since the beginning
# TYPE blackboard_artifacts_total counter
blackboard_artifacts_total 42
`;

/** The module's registration sets the path. */
@ApiTags('Metrics')
@Controller()
export class MetricsController {
  constructor(private readonly registry: MetricsRegistry) {}

  @Get()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  @ApiOperation({ summary: 'Get metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    description: 'Prometheus text format',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  @ApiErrors(503)
  async metrics(): Promise<string> {
    const parts = await Promise.all([this.registry.metrics(), processMetrics().metrics()]);
    return parts.join('\n');
  }
}

let registry: Registry | undefined;

/** Returns the metrics of memory, CPU, event loop and garbage collection, which all applications of a process share. */
function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
