import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';

import { BlackboardModule } from './blackboard/blackboard.module.js';
import { Role } from './common/role.js';
import { CoreModule, type CoreOptions } from './core.module.js';
import { ActivityModule } from './features/activity/activity.module.js';
import { AgentsModule } from './features/agents/agents.module.js';
import { DocsModule } from './features/api-docs/docs.module.js';
import { ArtifactsModule } from './features/artifacts/artifacts.module.js';
import { BatchesModule } from './features/batches/batches.module.js';
import { ChangelogModule } from './features/changelog/changelog.module.js';
import { CompareModule } from './features/compare/compare.module.js';
import { CorrelationsModule } from './features/correlations/correlations.module.js';
import { DashboardModule } from './features/dashboard/dashboard.module.js';
import { DefinitionsModule } from './features/definitions/definitions.module.js';
import { ExecutionsModule } from './features/executions/executions.module.js';
import { ExperimentsModule } from './features/experiments/experiments.module.js';
import { HealthModule } from './features/health/health.module.js';
import { IdempotencyModule } from './features/idempotency/idempotency.module.js';
import { LimitRoutesModule } from './features/limits/limit-routes.module.js';
import { McpModule } from './features/mcp/mcp.module.js';
import { MetricsModule } from './features/metrics/metrics.module.js';
import { OperationsModule } from './features/operations/operations.module.js';
import { ProcessesModule } from './features/processes/processes.module.js';
import { ReplayRoutesModule } from './features/replays/replay-routes.module.js';
import { RunsModule } from './features/runs/runs.module.js';
import { SchedulesModule } from './features/schedules/schedules.module.js';
import { WaitingModule } from './features/waiting/waiting.module.js';
import { WebhooksModule } from './features/webhooks/webhooks.module.js';

export interface AppOptions extends CoreOptions {
  /** Classes with `@Agent`, which Nest instantiates and injects. */
  agents?: Type[];
  /** A team's own modules. They provide what its agents inject, or the agents themselves. */
  imports?: ModuleMetadata['imports'];
}

@Module({})
export class AppModule {
  static forRoot({ agents = [], imports = [], ...core }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(core),
        ScheduleModule.forRoot(),
        BlackboardModule,
        // Express tries routes in this order.
        ArtifactsModule,
        CorrelationsModule,
        CompareModule,
        ReplayRoutesModule,
        ExperimentsModule,
        AgentsModule,
        ActivityModule,
        ExecutionsModule,
        DefinitionsModule,
        OperationsModule,
        LimitRoutesModule,
        SchedulesModule,
        WaitingModule,
        RunsModule,
        BatchesModule,
        ChangelogModule,
        WebhooksModule,
        McpModule,
        IdempotencyModule,
        ProcessesModule,
        HealthModule,
        MetricsModule,
        DocsModule,
        DashboardModule.forRoot(core.settings, core.role ?? new Role()),
        ...imports,
      ],
      providers: agents,
    };
  }
}
