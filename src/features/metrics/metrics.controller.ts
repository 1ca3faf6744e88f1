import { Controller, Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { collectDefaultMetrics, Registry } from 'prom-client';

import { DomainError } from '../../common/domain-error.js';
import { shown } from '../../common/short-text.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '../../http/openapi/documentation.js';
import { MetricsQuery } from './dto/metrics-query.js';
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
  @ApiOperation({ summary: 'Get metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    description: 'Prometheus text format',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  @ApiErrors([400, 'name: unknown metric queue_depth; GET /metrics shows all names'], 503)
  async metrics(@Query() { name }: MetricsQuery, @Res() response: Response): Promise<void> {
    const registries = [this.registry, processMetrics()];
    const texts = name
      ? [...new Set(name)].map((one) => textOf(one, registries))
      : registries.map((registry) => registry.metrics());
    const text = (await Promise.all(texts)).join('\n');
    response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
    response.end(text);
  }
}

function textOf(name: string, registries: readonly Registry[]): Promise<string> {
  // `getSingleMetric` would also find what every object has, such as `toString`.
  const registry = registries.find((one) => one.getMetricsAsArray().some((metric) => metric.name === name));
  if (!registry) throw new DomainError('invalid', `name: unknown metric ${shown(name)}; GET /metrics shows all names`);
  return registry.getSingleMetricAsString(name);
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
