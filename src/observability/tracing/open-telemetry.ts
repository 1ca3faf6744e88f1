import { AsyncLocalStorage } from 'node:async_hooks';

import type { OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  diag,
  type DiagLogger,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind as SdkSpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

import type { Logger } from '../../common/logger.js';
import { VERSION } from '../../common/version.js';
import type { SamplerName, TracingSettings } from '../../config/tracing-settings.js';
import { ReportedExporter } from './reported-exporter.js';
import {
  isSameTrace,
  NO_SPAN,
  type Span,
  type SpanAttributes,
  type SpanEnd,
  type SpanKind,
  type SpanStart,
  Tracing,
} from './tracing.js';

/**
 * How long the last export may take at the end of a process, in real milliseconds: a collector does not use the
 * injected clock.
 */
const LAST_EXPORT_MS = 3_000;

const KINDS: Record<SpanKind, SdkSpanKind> = {
  server: SdkSpanKind.SERVER,
  client: SdkSpanKind.CLIENT,
  consumer: SdkSpanKind.CONSUMER,
  internal: SdkSpanKind.INTERNAL,
};

/**
 * Traces with OpenTelemetry's SDK and sends them over OTLP as http/json to the endpoint in its variables. Nothing is
 * registered globally, so that agents may use a separate SDK. Spans wait in a bounded queue; spans that do not fit are
 * dropped, and no work waits for a collector.
 */
export function openTelemetry(settings: TracingSettings, logger: Logger): Tracing {
  settings.ignored.forEach((line) => logger.warn(line));
  // While the exporter reads its variables, it reports those that it cannot use. Later it reports every failed export,
  // which is noise.
  diag.setLogger(
    diagnostics((text) => logger.warn(text)),
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new ReportedExporter(new OTLPTraceExporter(), logger);
  diag.setLogger(
    diagnostics((text) => logger.debug(text)),
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'starling', 'service.version': VERSION }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...settings })],
  });
  return new OpenTelemetryTracing(provider);
}

class OpenTelemetryTracing extends Tracing implements OnApplicationShutdown {
  private readonly tracer: Tracer;
  private readonly working = new AsyncLocalStorage<Span>();

  constructor(private readonly provider: TracerProvider) {
    super();
    this.tracer = provider.getTracer('starling', VERSION);
  }

  start(name: string, start: SpanStart): Span {
    return new OpenTelemetrySpan(this.tracer, name, start);
  }

  current(): Span {
    return this.working.getStore() ?? NO_SPAN;
  }

  within(span: Span, work: () => void): void {
    this.working.run(span, work);
  }

  /** Runs after all traced work has ended. */
  async onApplicationShutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_EXPORT_MS);
    });
    // ReportedExporter has already reported a failure of the last export.
    await Promise.race([this.provider.shutdown().catch(() => undefined), limit]);
    clearTimeout(timer);
  }
}

class OpenTelemetrySpan implements Span {
  private readonly startedAt = Date.now();
  private span: SdkSpan;
  private beganItsTrace: boolean;
  /** The traceparents that this span is linked to. */
  private readonly linked = new Set<string>();

  constructor(
    private readonly tracer: Tracer,
    private readonly name: string,
    private readonly how: SpanStart,
  ) {
    const parent = contextOf(how.parent);
    this.beganItsTrace = parent === ROOT_CONTEXT;
    this.span = this.begin(parent);
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  join(traceparent: string): void {
    // A transaction that joins a trace may run again, after a rollback.
    if (isSameTrace(this.traceparent, traceparent) || this.linked.has(traceparent)) return;
    const other = contextOf(traceparent);
    // The first span is abandoned: a span that never ends is never sent.
    if (this.beganItsTrace) this.span = this.begin(other, this.startedAt);
    else {
      this.span.addLink({ context: trace.getSpanContext(other)! });
      this.linked.add(traceparent);
    }
    this.beganItsTrace = false;
  }

  event(name: string, attributes: SpanAttributes): void {
    this.span.addEvent(name, attributes);
  }

  end({ name, attributes = {}, failed = false }: SpanEnd = {}): void {
    if (name !== undefined) this.span.updateName(name);
    this.span.setAttributes(attributes);
    if (failed) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }

  private begin(parent: Context, startTime?: number): SdkSpan {
    const { kind, attributes } = this.how;
    return this.tracer.startSpan(this.name, { kind: KINDS[kind], attributes, startTime }, parent);
  }
}

/** The root context if there is no valid traceparent. */
function contextOf(traceparent: string | null): Context {
  const parsed = traceparent === null ? null : parseTraceParent(traceparent);
  return parsed ? trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true }) : ROOT_CONTEXT;
}

function samplerOf({ sampler, parentBased, ratio }: TracingSettings): Sampler {
  const makers: Record<SamplerName, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = makers[sampler]();
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

const diagnostics = (report: (text: string) => void): DiagLogger => ({
  error: report,
  warn: report,
  info: report,
  debug: report,
  verbose: report,
});
