import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';

import { InputMemory } from '../../blackboard/execution/input-memory.js';
import { OpenExternalWork } from '../../blackboard/external/open-external-work.js';
import { GroupsWithoutSubscription } from '../../blackboard/joins/groups-without-subscription.js';
import { Backlog } from '../../blackboard/scheduling/backlog.js';
import { ExecutionsWithoutAgent } from '../../blackboard/scheduling/executions-without-agent.js';
import { WaitingArrivals } from '../../blackboard/scheduling/waiting-arrivals.js';
import { DeliveriesService } from '../webhooks/deliveries.service.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Gauges of the work that waits. They are read at every scrape. */
@Injectable()
export class WaitingWorkMetrics implements OnModuleInit {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly backlog: Backlog,
    private readonly arrivals: WaitingArrivals,
    private readonly inputMemory: InputMemory,
    private readonly deliveries: DeliveriesService,
    private readonly externalWork: OpenExternalWork,
    private readonly executionsWithoutAgent: ExecutionsWithoutAgent,
    private readonly groupsWithoutSubscription: GroupsWithoutSubscription,
  ) {}

  onModuleInit(): void {
    this.gauge('starling_queue_depth', 'Executions waiting to be claimed', () => this.backlog.count);
    this.gauge(
      'starling_waiting_arrivals',
      'Artifacts waiting in joins, in batch windows or for their release',
      () => this.arrivals.count,
    );
    this.gauge(
      'starling_executions_waiting_for_memory',
      'Executions of this process waiting for memory for their inputs',
      () => this.inputMemory.waitingCount,
    );
    this.gaugeDeliveries();
    this.gaugeExternalWork();
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
  }

  private gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => gauge.set(read()) });
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

  private gaugeDeliveries(): void {
    const collect = async (): Promise<void> => {
      for (const [state, count] of Object.entries(await this.deliveries.countOpen())) gauge.set({ state }, count);
    };
    const gauge: Gauge<'state'> = new Gauge({
      name: 'starling_deliveries',
      help: 'Webhook deliveries that have not ended, by state',
      labelNames: ['state'],
      registers: [this.registry],
      collect,
    });
  }

  private gaugeExternalWork(): void {
    const collect = async (): Promise<void> => {
      for (const { agent, waiting, claimed } of await this.externalWork.count()) {
        gauge.set({ agent, state: 'waiting' }, waiting);
        gauge.set({ agent, state: 'claimed' }, claimed);
      }
    };
    const gauge: Gauge<'agent' | 'state'> = new Gauge({
      name: 'starling_external_executions',
      help: 'Executions of external agents that have not ended, by agent and state',
      labelNames: ['agent', 'state'],
      registers: [this.registry],
      collect,
    });
  }
}
