import { Injectable } from '@nestjs/common';
import { Histogram } from 'prom-client';

import type { EndedRequest } from '../../http/middleware/request-observer.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Up to five minutes, the maximum wait of a synchronous publish. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

@Injectable()
export class HttpMetrics {
  private readonly durations: Histogram<'method' | 'route' | 'status'>;

  constructor(registry: MetricsRegistry) {
    this.durations = new Histogram({
      name: 'starling_http_request_duration_seconds',
      help: 'Time from a request to the end of its response, by route pattern',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  requestEnded({ method, route, status, durationMs }: EndedRequest): void {
    this.durations.observe({ method, route, status }, durationMs / 1_000);
  }
}
