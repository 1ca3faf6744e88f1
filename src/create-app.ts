import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule, type AppOptions } from './app.module.js';
import { Clock } from './common/clock.js';
import { MemoryBudget } from './common/memory-budget.js';
import { Role } from './common/role.js';
import { ApiDocument } from './features/api-docs/api-document.js';
import { installHttpEdge } from './http/http-edge.js';
import { NestLogger } from './observability/logging/nest-logger.js';
import { HttpMetrics } from './features/metrics/http-metrics.js';
import { Tracing } from './observability/tracing/tracing.js';

/**
 * The whole application, ready to listen: the database open and migrated, engines prepared, and, where it works, executions of
 * an earlier process taken over. `close()` hands back what still runs after the grace period. Rejects with a StartError where it
 * cannot start.
 */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { settings, logger } = options;
  const app = await NestFactory.create<NestExpressApplication>(AppModule.forRoot(options), {
    bodyParser: false,
    logger: new NestLogger(logger),
    // Else Nest ends the process where a provider cannot be made, and the entry could not say why in its own words.
    abortOnError: false,
  });
  const metrics = app.get(HttpMetrics, { strict: false });
  const role = app.get(Role, { strict: false });
  const tracing = app.get(Tracing, { strict: false });
  const clock = app.get(Clock, { strict: false });
  const memory = app.get(MemoryBudget, { strict: false });
  installHttpEdge(app, { settings, clock, memory, role, logger, tracing, onEnded: (request) => metrics.requestEnded(request) });
  app.get(ApiDocument, { strict: false }).describes(app);
  return app.init();
}
