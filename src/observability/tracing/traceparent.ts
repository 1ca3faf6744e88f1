const TRACE_ID = { start: 3, end: 35 };

/** The trace that a traceparent is of: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(TRACE_ID.start, TRACE_ID.end);

/** Null is of no trace. */
export const isSameTrace = (one: string | null, other: string | null): boolean => one !== null && other !== null && traceIdOf(one) === traceIdOf(other);
