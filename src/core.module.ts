import { type DynamicModule, Global, Module } from '@nestjs/common';

import { Catalog } from './catalog/catalog.js';
import { Clock, SystemClock } from './common/clock.js';
import { Lifecycle } from './common/lifecycle.js';
import { LOGGER, type Logger } from './common/logger.js';
import { defaultMemoryBudget, MemoryBudget } from './common/memory-budget.js';
import { Role } from './common/role.js';
import { Telemetry } from './common/telemetry.js';
import { Settings } from './config/settings.js';
import { DatabaseClock } from './database/dialects/database-clock.js';
import { isPostgresUrl } from './database/open-database.js';
import type { Engine } from './engines/engine.js';
import { ALL_ENGINES, ENGINES } from './engines/engine-registry.js';
import { EnginesModule } from './engines/engines.module.js';
import { HttpMetrics } from './features/metrics/http-metrics.js';
import { MetricsRegistry } from './features/metrics/metrics-registry.js';
import { PrometheusTelemetry } from './features/metrics/prometheus-telemetry.js';
import { Resolver, SystemResolver } from './http-client/lookups.js';
import { NoTracing, Tracing } from './observability/tracing/tracing.js';

/** Objects that the entry point creates and all other code injects. */
export interface CoreOptions {
  settings: Settings;
  catalog: Catalog;
  logger: Logger;
  /** Default: the database's clock if the database is shared, otherwise the system's clock. */
  clock?: Clock;
  lifecycle?: Lifecycle;
  /** Default: both API and worker. */
  role?: Role;
  /** Resolves the names of outbound URLs. Default: the system's resolver. */
  resolver?: Resolver;
  /** Default: no tracing. */
  tracing?: Tracing;
  /** The engines that run agents, one for each kind. Default: all that this program has. */
  engines?: readonly Engine[];
}

/**
 * The only global module: settings, catalog, time, log, telemetry, traces, the process's role and lifecycle, and
 * engines.
 */
@Global()
@Module({})
export class CoreModule {
  static forRoot({
    settings,
    catalog,
    logger,
    clock,
    lifecycle,
    role,
    resolver,
    tracing,
    engines,
  }: CoreOptions): DynamicModule {
    return {
      module: CoreModule,
      imports: [EnginesModule],
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Catalog, useValue: catalog },
        { provide: LOGGER, useValue: logger },
        {
          provide: Clock,
          useValue: clock ?? (isPostgresUrl(settings.databaseUrl) ? new DatabaseClock() : new SystemClock()),
        },
        { provide: Lifecycle, useValue: lifecycle ?? new Lifecycle() },
        { provide: MemoryBudget, useValue: new MemoryBudget(settings.memoryBudgetBytes ?? defaultMemoryBudget()) },
        { provide: Role, useValue: role ?? new Role() },
        { provide: Resolver, useValue: resolver ?? new SystemResolver() },
        { provide: Telemetry, useClass: PrometheusTelemetry },
        { provide: Tracing, useValue: tracing ?? new NoTracing() },
        { provide: ENGINES, useValue: engines ?? ALL_ENGINES },
        { provide: MetricsRegistry, useValue: new MetricsRegistry() },
        HttpMetrics,
      ],
      exports: [
        Settings,
        Catalog,
        LOGGER,
        Clock,
        Lifecycle,
        MemoryBudget,
        Role,
        Resolver,
        Telemetry,
        Tracing,
        ENGINES,
        MetricsRegistry,
        EnginesModule,
      ],
    };
  }
}
