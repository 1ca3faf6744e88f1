export type SpanKind = 'server' | 'client' | 'consumer' | 'internal';

/**
 * Attributes of a span. They never contain payloads or texts of agents and callers, because traces leave the service.
 */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  kind: SpanKind;
  /** The traceparent of the cause. If it is null or invalid, the span starts a new trace. */
  parent: string | null;
  attributes?: SpanAttributes;
}

export interface SpanEnd {
  /** Replaces the name that was given at the start. */
  name?: string;
  attributes?: SpanAttributes;
  /** Whether the work failed. Default: false. */
  failed?: boolean;
}

/** One piece of work in a trace. */
export interface Span {
  /**
   * Identifies this span to the work that it causes (W3C Trace Context, "Traceparent Header"); null if tracing is off.
   */
  readonly traceparent: string | null;

  /**
   * Connects the span to a trace that the work turned out to be part of. A span that started its own trace moves there;
   * a span in a caller's trace gets a link.
   */
  join(traceparent: string): void;

  event(name: string, attributes: SpanAttributes): void;

  /** Must be called once, as the last call. */
  end(result?: SpanEnd): void;
}

/**
 * Reports causes and effects across processes as spans. Times are real time, as in the metrics, not the injected clock.
 */
export abstract class Tracing {
  abstract start(name: string, start: SpanStart): Span;

  /**
   * The span of the current request, if any. Must be read before a transaction, because transactions run in another
   * context.
   */
  abstract current(): Span;

  /** Runs `work` with `span` as the current span, also for everything that it awaits. */
  abstract within(span: Span, work: () => void): void;
}

export const NO_SPAN: Span = { traceparent: null, join: () => undefined, event: () => undefined, end: () => undefined };

/** Used if traces are not collected. */
export class NoTracing extends Tracing {
  start(): Span {
    return NO_SPAN;
  }

  current(): Span {
    return NO_SPAN;
  }

  within(_span: Span, work: () => void): void {
    work();
  }
}

const TRACE_ID = { start: 3, end: 35 };

/** The trace id in a traceparent: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(TRACE_ID.start, TRACE_ID.end);

/** Whether both belong to the same trace. Null belongs to none. */
export const isSameTrace = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && traceIdOf(one) === traceIdOf(other);
