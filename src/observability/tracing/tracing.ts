export type SpanKind = 'server' | 'client' | 'consumer' | 'internal';

/** What a span tells of its work. Never a payload, nor what an agent or a caller wrote: traces leave the service. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  kind: SpanKind;
  /** What caused it, as a traceparent; where that is null or none can be read in it, the span begins a trace. */
  parent: string | null;
  attributes?: SpanAttributes;
}

export interface SpanEnd {
  /** In place of the name that it began with. */
  name?: string;
  attributes?: SpanAttributes;
  /** True where the work failed; false where absent. */
  failed?: boolean;
}

/** One piece of work in a trace. */
export interface Span {
  /** Names this span to what it causes (W3C Trace Context, section "Traceparent Header"); null where nothing is traced. */
  readonly traceparent: string | null;

  /**
   * The work turned out to be part of that trace: goes on there, where it has begun a trace by itself; where a caller has given
   * it a trace of his own, it is linked to that one.
   */
  join(traceparent: string): void;

  event(name: string, attributes: SpanAttributes): void;

  /** Once, and the last call. */
  end(result?: SpanEnd): void;
}

/** What the service tells about who caused what, across processes. Times are the machine's own, as those of the metrics. */
export abstract class Tracing {
  abstract start(name: string, start: SpanStart): Span;

  /** The span of the request that the caller works for, if any. Transactions run elsewhere: to be asked before them. */
  abstract current(): Span;

  /** `work`, and all that it waits for, has `span` as its current one. */
  abstract within(span: Span, work: () => void): void;
}

export const NO_SPAN: Span = { traceparent: null, join: () => undefined, event: () => undefined, end: () => undefined };

/** Where nobody collects traces. */
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
