/** Where a failure lies; what the WorkflowError calls its `error_type`. */
export type EngineFailureType = 'http' | 'network' | 'rate_limit' | 'model' | 'refusal' | 'output' | 'tool' | 'budget';

/** Why an attempt got no answer that it can use, from whoever an engine asks. */
export class EngineFailure extends Error {
  /** Another attempt would end alike. */
  readonly isFinal: boolean;
  /** Another attempt would end alike until then, from now. */
  readonly retryAfterMs: number | undefined;

  constructor(type: EngineFailureType, message: string, { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number } = {}) {
    super(message);
    this.name = type;
    this.isFinal = isFinal;
    this.retryAfterMs = retryAfterMs;
  }
}
