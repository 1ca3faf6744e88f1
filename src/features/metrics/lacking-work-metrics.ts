import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';

import { GroupsWithoutSubscription } from '../../blackboard/joins/groups-without-subscription.js';
import { ExecutionsWithoutAgent } from '../../blackboard/scheduling/executions-without-agent.js';
import { ExecutionsWithoutConfiguration } from '../../blackboard/scheduling/executions-without-configuration.js';
import { configurationName } from '../../catalog/replay-configuration.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Gauges of the work that waits because no process has what it needs. They are read at every scrape. */
@Injectable()
export class LackingWorkMetrics implements OnModuleInit {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly executionsWithoutAgent: ExecutionsWithoutAgent,
    private readonly groupsWithoutSubscription: GroupsWithoutSubscription,
    private readonly executionsWithoutConfiguration: ExecutionsWithoutConfiguration,
  ) {}

  onModuleInit(): void {
    this.gaugeByAgent(
      'starling_executions_without_agent',
      'Executions waiting because no process has their agent, by agent',
      () => this.executionsWithoutAgent.counts(),
    );
    this.gaugeByAgent(
      'starling_groups_without_subscription',
      'Join groups and batch windows waiting because no process has their subscription, by agent',
      () => this.groupsWithoutSubscription.counts(),
    );
    this.gaugeConfigurations();
  }

  private gaugeByAgent(name: string, help: string, read: () => Promise<ReadonlyMap<string, number>>): void {
    const collect = async (): Promise<void> => {
      const counts = await read();
      // Drops the agents that have nothing waiting any more.
      gauge.reset();
      for (const [agent, count] of counts) gauge.set({ agent }, count);
    };
    const gauge: Gauge<'agent'> = new Gauge({ name, help, labelNames: ['agent'], registers: [this.registry], collect });
  }

  private gaugeConfigurations(): void {
    const collect = async (): Promise<void> => {
      const counts = await this.executionsWithoutConfiguration.counts();
      gauge.reset();
      // Several versions of a configuration have the same name.
      for (const { agent, configuration, count } of counts)
        gauge.inc({ agent, configuration: configurationName(configuration) }, count);
    };
    const gauge: Gauge<'agent' | 'configuration'> = new Gauge({
      name: 'starling_executions_without_configuration',
      help: 'Executions of replays waiting because no process has their configuration, by agent and configuration',
      labelNames: ['agent', 'configuration'],
      registers: [this.registry],
      collect,
    });
  }
}
