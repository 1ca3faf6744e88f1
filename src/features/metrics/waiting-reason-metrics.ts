import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';

import { Breakers } from '../../blackboard/limits/breakers.js';
import { WaitingWork } from '../../blackboard/waits/waiting-work.js';
import { Settings } from '../../config/settings.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Gauges of waiting work by what it waits for, and of the settings that limit it. */
@Injectable()
export class WaitingReasonMetrics implements OnModuleInit {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly waitingWork: WaitingWork,
    private readonly breakers: Breakers,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.gaugeReasons('starling_waiting_executions', 'Executions that have not started, by what they wait for', () =>
      this.waitingWork.executions(),
    );
    this.gaugeReasons(
      'starling_waiting_artifacts',
      'Artifacts that wait before they become inputs, by what they wait for',
      () => this.waitingWork.artifacts(),
    );
    this.gaugeBreakers();
    this.gaugeLimits();
  }

  private gaugeReasons(name: string, help: string, read: () => Promise<object>): void {
    const collect = async (): Promise<void> => {
      for (const [reason, count] of Object.entries(await read()) as [string, number][])
        gauge.set({ waits_for: reason }, count);
    };
    const registers = [this.registry];
    const gauge: Gauge<'waits_for'> = new Gauge({ name, help, labelNames: ['waits_for'], registers, collect });
  }

  private gaugeBreakers(): void {
    const collect = async (): Promise<void> => {
      for (const [agent, count] of await this.breakers.open()) gauge.set({ agent }, count);
    };
    const gauge: Gauge<'agent'> = new Gauge({
      name: 'starling_open_breakers',
      help: 'Breakers that are open or half-open, by agent',
      labelNames: ['agent'],
      registers: [this.registry],
      collect,
    });
  }

  /** They do not change while the process runs, but an operator reads them beside the counts. */
  private gaugeLimits(): void {
    const gauge = new Gauge({
      name: 'starling_limit',
      help: 'Maximum of what may wait, by setting',
      labelNames: ['setting'],
      registers: [this.registry],
    });
    gauge.set({ setting: 'max_pending_executions' }, this.settings.maxPendingExecutions);
    gauge.set({ setting: 'max_waiting_arrivals' }, this.settings.maxWaitingArrivals);
    gauge.set({ setting: 'max_executions_without_agent' }, this.settings.maxExecutionsWithoutAgent);
  }
}
