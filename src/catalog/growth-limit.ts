/**
 * Limits the defaults that are filled into the payloads of one request or of one answer. Without it, a request of a few
 * kilobytes with many empty objects could fill the memory.
 */
export class GrowthLimit {
  private used = 0;

  /** `bodyLimitBytes`: the largest size of a payload with its defaults, and of all defaults together. */
  constructor(private readonly bodyLimitBytes: number) {}

  /** Bytes of JSON text that defaults have added. */
  get usedBytes(): number {
    return this.used;
  }

  /** Returns how many bytes defaults may add to a payload of this size. Negative if it is too large already. */
  roomBeside(payloadBytes: number): number {
    return this.bodyLimitBytes - Math.max(this.used, payloadBytes);
  }

  use(bytes: number): void {
    this.used += bytes;
  }
}
