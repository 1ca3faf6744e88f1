import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AgentsModule } from './agents/agents.module.js';
import { ArtifactsModule } from './artifacts/artifacts.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { BlackboardModule } from './blackboard/blackboard.module.js';
import { ChangelogModule } from './changelog/changelog.module.js';
import { CoreModule, type CoreOptions } from './core.module.js';
import { CorrelationsModule } from './correlations/correlations.module.js';
import { DocsModule } from './docs/docs.module.js';
import { ExecutionsModule } from './executions/executions.module.js';
import { HealthModule } from './health/health.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ProcessesModule } from './processes/processes.module.js';
import { RunsModule } from './runs/runs.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

export interface AppOptions extends CoreOptions {
  /** Classes with `@Agent`, made and injected by Nest. */
  agents?: Type[];
  /** Modules of a team's own: what its agents inject, or the agents themselves. */
  imports?: ModuleMetadata['imports'];
}

@Module({})
export class AppModule {
  static with({ agents = [], imports = [], ...core }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.with(core),
        ScheduleModule.forRoot(),
        BlackboardModule,
        // Express tries routes in this order.
        ArtifactsModule,
        CorrelationsModule,
        AgentsModule,
        ExecutionsModule,
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
        ...imports,
      ],
      providers: agents,
    };
  }
}
