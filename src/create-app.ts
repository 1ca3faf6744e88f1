import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';

import { AppModule, type AppOptions } from './app.module.js';
import { Clock } from './common/clock.js';
import { MemoryBudget } from './common/memory-budget.js';
import { Role } from './common/role.js';
import { ApiDocument } from './features/api-docs/api-document.js';
import { HttpMetrics } from './features/metrics/http-metrics.js';
import { installHttpEdge } from './http/http-edge.js';
import { NestLogger } from './observability/logging/nest-logger.js';
import { Tracing } from './observability/tracing/tracing.js';

/**
 * Creates the whole application, ready to listen. The database is open and migrated, engines are prepared, and a worker
 * has taken over the executions of an earlier process. `close()` hands back executions that still run after the grace
 * period. Rejects with a StartError if the application cannot start.
 */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { settings, logger } = options;
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(options), {
    bodyParser: false,
    logger: new NestLogger(logger),
    // Otherwise Nest ends the process if a provider cannot be created, and the entry point could not print the reason.
    abortOnError: false,
  });
  const metrics = app.get(HttpMetrics, { strict: false });
  const role = app.get(Role, { strict: false });
  const tracing = app.get(Tracing, { strict: false });
  const clock = app.get(Clock, { strict: false });
  const memory = app.get(MemoryBudget, { strict: false });
  installHttpEdge(app, {
    settings,
    clock,
    memory,
    role,
    logger,
    tracing,
    onEnded: (request) => metrics.requestEnded(request),
  });
  app.get(ApiDocument, { strict: false }).describes(app);
  return app.init();
}
