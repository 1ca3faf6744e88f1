/** What a client has sent, for a handler that stores it and then lets the client wait. */
export interface HeldRequest {
  /** That it takes of the memory budget now. */
  readonly bytes: number;
  /**
   * For a handler that is going to let the client wait, before it stores anything: from here to the answer, the request takes memory,
   * whatever its body is. Idempotent. DomainError `unavailable` where too many wait.
   */
  waits(): void;
  /**
   * Frees the body. `given` is what the handler got, and is emptied: the framework refers to it until the answer. The handler takes out
   * before what its answer needs.
   */
  releaseBody(given: object): void;
}

/** Drops what the object's own fields hold. */
export function emptyOut(holder: object): void {
  for (const key of Object.keys(holder)) (holder as Record<string, unknown>)[key] = undefined;
}
