import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../common/logger.js';

/** Says once that traces cannot be sent, and once that they are again: a collector that is away for hours must not fill the log. */
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
    // Its reason alone: the rest of the error is what the collector answered.
    if (fails) this.logger.warn({ reason: error?.message }, 'traces cannot be sent and are lost meanwhile; see to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names');
    else this.logger.info('traces are sent again');
  }
}
