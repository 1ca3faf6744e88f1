const TRACE_ID = { start: 3, end: 35 };

/** The trace id in a traceparent: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(TRACE_ID.start, TRACE_ID.end);

/** Whether both belong to the same trace. Null belongs to none. */
export const isSameTrace = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && traceIdOf(one) === traceIdOf(other);
