import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';

import { InputMemory } from '../../blackboard/execution/input-memory.js';
import { OpenExternalWork } from '../../blackboard/external/open-external-work.js';
import { Backlog } from '../../blackboard/scheduling/backlog.js';
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
  }

  private gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => gauge.set(read()) });
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
