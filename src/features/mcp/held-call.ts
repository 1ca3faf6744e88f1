import { emptyOut, type HeldRequest } from '../../common/held-request.js';

/** Frees the body of a tool call. The SDK refers to the message and its arguments until it has the answer. */
export class HeldCall implements HeldRequest {
  constructor(
    private readonly body: HeldRequest,
    private readonly parts: readonly object[],
  ) {}

  get bytes(): number {
    return this.body.bytes;
  }

  waits(): void {
    this.body.waits();
  }

  releaseBody(given: object): void {
    this.parts.forEach(emptyOut);
    this.body.releaseBody(given);
  }
}
