import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

import type { Logger } from '../../common/logger.js';

/**
 * Logs once that traces cannot be sent, and once that it works again, so that a collector outage of hours does not fill
 * the log.
 */
export class ReportedExporter implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.report(result);
      onResult(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.exporter.forceFlush?.() ?? Promise.resolve();
  }

  private report({ code, error }: ExportResult): void {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails === this.failing) return;
    this.failing = fails;
    // Logs only the reason, because the rest of the error is the collector's answer.
    if (fails)
      this.logger.warn(
        { reason: error?.message },
        'traces cannot be sent and are dropped; check the collector at OTEL_EXPORTER_OTLP_ENDPOINT',
      );
    else this.logger.info('traces are sent again');
  }
}
