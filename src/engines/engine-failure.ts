/** The cause of a failure. The WorkflowError has it as its `error_type`. */
export type EngineFailureType = 'http' | 'network' | 'rate_limit' | 'model' | 'refusal' | 'output' | 'tool' | 'budget';

/** An attempt got no usable answer from the system that the engine called. */
export class EngineFailure extends Error {
  /** True if another attempt would fail in the same way. */
  readonly isFinal: boolean;
  /** Milliseconds from now before which another attempt would fail in the same way. */
  readonly retryAfterMs: number | undefined;

  constructor(
    type: EngineFailureType,
    message: string,
    { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = type;
    this.isFinal = isFinal;
    this.retryAfterMs = retryAfterMs;
  }
}
