import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';

import { Breakers } from '../../blackboard/limits/breakers.js';
import { ExecutedVariants } from '../../blackboard/limits/executed-variants.js';
import { WaitingWork } from '../../blackboard/waits/waiting-work.js';
import { Catalog } from '../../catalog/catalog.js';
import { Settings } from '../../config/settings.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Gauges of waiting work by what it waits for, and of the settings that limit it. */
@Injectable()
export class WaitingReasonMetrics implements OnModuleInit {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly waitingWork: WaitingWork,
    private readonly breakers: Breakers,
    private readonly variants: ExecutedVariants,
    private readonly catalog: Catalog,
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
    this.gaugeRollbacks();
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

  private gaugeRollbacks(): void {
    const counted = this.catalog.agents.flatMap(({ name: agent, variants }) =>
      variants?.rollback ? variants.all.map(({ name: variant }) => ({ agent, variant })) : [],
    );
    const collect = async (): Promise<void> => {
      const rolledBack = await this.variants.rolledBack();
      for (const labels of counted) gauge.set(labels, rolledBack.get(labels.agent)?.has(labels.variant) ? 1 : 0);
    };
    const gauge: Gauge<'agent' | 'variant'> = new Gauge({
      name: 'starling_variant_rolled_back',
      help: 'Whether too many attempts of a variant have failed, so that it is used no more (1) or not (0)',
      labelNames: ['agent', 'variant'],
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
