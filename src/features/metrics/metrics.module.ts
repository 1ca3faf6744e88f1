import { Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { BlackboardMetrics } from './blackboard-metrics.js';
import { LackingWorkMetrics } from './lacking-work-metrics.js';
import { MetricsController } from './metrics.controller.js';
import { WaitingReasonMetrics } from './waiting-reason-metrics.js';
import { WaitingWorkMetrics } from './waiting-work-metrics.js';

@Module({
  imports: [
    BlackboardModule,
    WebhooksModule,
    // Default metrics would go into the global registry, which throws if a second application adds them again.
    PrometheusModule.register({ path: '/metrics', controller: MetricsController, defaultMetrics: { enabled: false } }),
  ],
  providers: [BlackboardMetrics, LackingWorkMetrics, WaitingReasonMetrics, WaitingWorkMetrics],
})
export class MetricsModule {}
