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
import { EnginesModule } from './engines/engines.module.js';
import { HttpMetrics } from './features/metrics/http-metrics.js';
import { MetricsRegistry } from './features/metrics/metrics-registry.js';
import { PrometheusTelemetry } from './features/metrics/prometheus-telemetry.js';
import { Resolver, SystemResolver } from './http-client/resolver.js';
import { NoTracing, Tracing } from './observability/tracing/tracing.js';

/** What the entry decides and everything else takes by injection. */
export interface CoreOptions {
  settings: Settings;
  catalog: Catalog;
  logger: Logger;
  /** Where absent the system's clock, or the database's where that is shared. */
  clock?: Clock;
  lifecycle?: Lifecycle;
  /** Serves and works where absent. */
  role?: Role;
  /** How names of outbound URLs become addresses; where absent, as the system does it. */
  resolver?: Resolver;
  /** None where absent. */
  tracing?: Tracing;
}

/** The one global module: settings, catalog, time, log, telemetry, traces, the process's role and lifecycle, and the agents' engines. */
@Global()
@Module({})
export class CoreModule {
  static forRoot({ settings, catalog, logger, clock, lifecycle, role, resolver, tracing }: CoreOptions): DynamicModule {
    return {
      module: CoreModule,
      imports: [EnginesModule],
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Catalog, useValue: catalog },
        { provide: LOGGER, useValue: logger },
        { provide: Clock, useValue: clock ?? (isPostgresUrl(settings.databaseUrl) ? new DatabaseClock() : new SystemClock()) },
        { provide: Lifecycle, useValue: lifecycle ?? new Lifecycle() },
        { provide: MemoryBudget, useValue: new MemoryBudget(settings.memoryBudgetBytes ?? defaultMemoryBudget()) },
        { provide: Role, useValue: role ?? new Role() },
        { provide: Resolver, useValue: resolver ?? new SystemResolver() },
        { provide: Telemetry, useClass: PrometheusTelemetry },
        { provide: Tracing, useValue: tracing ?? new NoTracing() },
        { provide: MetricsRegistry, useValue: new MetricsRegistry() },
        HttpMetrics,
      ],
      exports: [Settings, Catalog, LOGGER, Clock, Lifecycle, MemoryBudget, Role, Resolver, Telemetry, Tracing, MetricsRegistry, EnginesModule],
    };
  }
}
