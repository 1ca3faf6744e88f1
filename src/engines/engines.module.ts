import { Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

import { Catalog } from '../catalog/catalog.js';
import { ExpressionEvaluator } from '../cel/evaluator.js';
import { ExpressionsModule } from '../cel/expressions.module.js';
import { Clock } from '../common/clock.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { readEnvironment } from '../config/environment.js';
import { Outbound } from '../http-client/outbound.js';
import { OutboundModule } from '../http-client/outbound.module.js';
import { type AgentClass, type Engine, PreparedEngines, type RunnableAgent } from './engine.js';
import { EngineKinds } from './engine-kinds.js';
import { ENGINES, prepareEngines } from './engine-registry.js';
import { OverriddenAgents } from './overridden-agents.js';
import { OverrideChecks } from './override-checks.js';
import { PROVIDER } from './provider/agent.decorator.js';
import { SharedResources } from './shared-resources.js';

const instanceIn = (modules: ModuleRef, agentClass: AgentClass): RunnableAgent =>
  modules.get(agentClass, { strict: false });

@Module({
  imports: [ExpressionsModule, OutboundModule],
  providers: [
    SharedResources,
    {
      provide: EngineKinds,
      useFactory: (
        catalog: Catalog,
        engines: readonly Engine[],
        expressions: ExpressionEvaluator,
        shared: SharedResources,
        outbound: Outbound,
        clock: Clock,
        logger: Logger,
        modules: ModuleRef,
      ) => {
        const instanceOf = (agentClass: AgentClass): RunnableAgent => instanceIn(modules, agentClass);
        const { baseDirectory } = catalog;
        return new EngineKinds(engines, {
          baseDirectory,
          environment: readEnvironment(),
          catalog,
          expressions,
          shared,
          outbound,
          clock,
          logger,
          instanceOf,
        });
      },
      inject: [Catalog, ENGINES, ExpressionEvaluator, SharedResources, Outbound, Clock, LOGGER, ModuleRef],
    },
    { provide: PreparedEngines, useFactory: prepareEngines, inject: [Catalog, EngineKinds] },
    OverriddenAgents,
    OverrideChecks,
  ],
  exports: [OverriddenAgents, OverrideChecks, PreparedEngines],
})
export class EnginesModule implements OnModuleInit {
  constructor(
    private readonly catalog: Catalog,
    private readonly modules: ModuleRef,
  ) {}

  /** Makes the start fail, not the first execution, if no module provides an agent class. */
  onModuleInit(): void {
    for (const { engine } of this.catalog.agents) {
      if (engine.kind === PROVIDER) instanceIn(this.modules, engine.agentClass as AgentClass);
    }
  }
}
