import { Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { BlackboardMetrics } from './blackboard-metrics.js';
import { MetricsController } from './metrics.controller.js';

@Module({
  imports: [
    BlackboardModule,
    WebhooksModule,
    // Its own default metrics would go into the global registry, once for every application, which that refuses.
    PrometheusModule.register({ path: '/metrics', controller: MetricsController, defaultMetrics: { enabled: false } }),
  ],
  providers: [BlackboardMetrics],
})
export class MetricsModule {}
