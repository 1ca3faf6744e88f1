import { emptyOut, type HeldRequest } from '../../common/held-request.js';

/** The call of a tool: the protocol's own code refers to the message and to its arguments until it has the answer. */
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
