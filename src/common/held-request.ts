/** The request of a client, for a handler that stores its data and then lets the client wait. */
export interface HeldRequest {
  /** Bytes of the memory budget that the request reserves now. */
  readonly bytes: number;
  /**
   * Reserves the memory that a waiting request takes until its answer, even without a body. A handler that lets its
   * client wait calls it before it stores anything. Idempotent. Throws a DomainError `unavailable` if too many requests
   * wait.
   */
  waits(): void;
  /**
   * Frees the body. `given` is the handler's argument. It is emptied, because the framework refers to it until the
   * answer, so the handler must copy what its answer needs before.
   */
  releaseBody(given: object): void;
}

/** Sets all own fields of the object to undefined. */
export function emptyOut(holder: object): void {
  for (const key of Object.keys(holder)) (holder as Record<string, unknown>)[key] = undefined;
}
