/** Why a remote agent gave no answer that can be used. `name` is what the WorkflowError calls its `error_type`. */
export class RemoteFailure extends Error {
  constructor(
    type: 'http' | 'network' | 'rate_limit' | 'output',
    message: string,
    /** `isFinal`: another attempt would get the same answer. `retryAfterMs`: it would before then, from now. */
    { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = type;
    this.isFinal = isFinal;
    this.retryAfterMs = retryAfterMs;
  }

  readonly isFinal: boolean;
  readonly retryAfterMs: number | undefined;
}
