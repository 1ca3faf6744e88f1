/**
 * Limits the defaults that are filled into the payloads of one request or of one answer. Without it, a request of a few
 * kilobytes with many empty objects could fill the memory.
 */
export class GrowthLimit {
  /** Bytes of JSON text. */
  private used = 0;

  /** `bodyLimitBytes`: the largest size of a payload with its defaults, and of all defaults together. */
  constructor(private readonly bodyLimitBytes: number) {}

  /** The memory of what defaults have added (bytes): their texts, and copies of the parts that changed. */
  get memoryBytes(): number {
    return 2 * this.used;
  }

  /** Returns how many bytes defaults may add to a payload of this size. Negative if it is too large already. */
  roomBeside(payloadBytes: number): number {
    return this.bodyLimitBytes - Math.max(this.used, payloadBytes);
  }

  use(bytes: number): void {
    this.used += bytes;
  }
}
