import { Module } from '@nestjs/common';

import { AgentsModule } from '../agents/agents.module.js';
import { ArtifactsModule } from '../artifacts/artifacts.module.js';
import { CorrelationsModule } from '../correlations/correlations.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { KeyedWork } from './keyed-work.js';
import { McpController } from './mcp.controller.js';
import { McpService } from './mcp.service.js';
import { PublishTools } from './publish-tools.js';
import { QueryTools } from './query-tools.js';
import { RunTools } from './run-tools.js';
import { Tools } from './tools.js';

/** The MCP server, which offers the REST routes to models as tools. */
@Module({
  imports: [AgentsModule, ArtifactsModule, CorrelationsModule, IdempotencyModule, RunsModule],
  controllers: [McpController],
  providers: [KeyedWork, McpService, PublishTools, QueryTools, RunTools, Tools],
})
export class McpModule {}
