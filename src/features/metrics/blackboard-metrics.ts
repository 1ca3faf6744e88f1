import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';

import { ActivityTotals } from '../../blackboard/queries/activity-totals.repository.js';
import { ArtifactTotals } from '../../blackboard/queries/artifact-totals.js';
import { Catalog } from '../../catalog/catalog.js';
import { MetricsRegistry } from './metrics-registry.js';

/**
 * The `blackboard_` metrics, which have no labels (docs/api.md, "Health and metrics"). They are read at every scrape, from
 * the database where possible, which keeps them right across restarts and replicas. The totals never decrease.
 */
@Injectable()
export class BlackboardMetrics implements OnModuleInit {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly artifacts: ArtifactTotals,
    private readonly activity: ActivityTotals,
    private readonly catalog: Catalog,
  ) {}

  onModuleInit(): void {
    this.count('blackboard_artifacts_total', 'Artifacts published since the beginning', () =>
      this.artifacts.published(),
    );
    this.count('blackboard_executions_total', 'Executions that have ended', () => this.activity.executions());
    const agents: Gauge = new Gauge({
      name: 'blackboard_agents_count',
      help: 'Agents in the catalog',
      registers: [this.registry],
      collect: () => agents.set(this.catalog.agents.length),
    });
  }

  private count(name: string, help: string, read: () => Promise<number>): void {
    const collect = async (): Promise<void> => {
      const total = await read();
      // A counter has no setter. Reset and increment are synchronous, so overlapping scrapes cannot add up.
      counter.reset();
      counter.inc(total);
    };
    const counter: Counter = new Counter({ name, help, registers: [this.registry], collect });
  }
}
