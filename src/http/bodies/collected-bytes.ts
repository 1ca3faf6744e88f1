const NOTHING = Buffer.alloc(0);

/**
 * Bytes that come in parts, in one buffer that doubles as it fills: each part on its own would take a hundred bytes however
 * small it is.
 */
export class CollectedBytes {
  private buffer: Buffer = NOTHING;
  private length = 0;

  /** `take` is told how many bytes of memory are needed before they are, and may throw. */
  constructor(private readonly take: (bytes: number) => void = () => undefined) {}

  /** Bytes of memory. */
  get capacity(): number {
    return this.buffer.length;
  }

  get size(): number {
    return this.length;
  }

  add(part: Buffer): void {
    if (this.length === 0) this.keep(part);
    else this.append(part);
    this.length += part.length;
  }

  slice(from: number, to: number): Buffer {
    return this.buffer.subarray(from, Math.min(to, this.length));
  }

  /** All of them, and keeps none: whoever collected them may be referred to for longer than they are needed. */
  takeAll(): Buffer {
    const all = this.buffer.subarray(0, this.length);
    this.buffer = NOTHING;
    this.length = 0;
    return all;
  }

  /** Most bodies come in one part, which is not copied. Nothing is written into it: it has no room. */
  private keep(part: Buffer): void {
    this.take(part.length);
    this.buffer = part;
  }

  private append(part: Buffer): void {
    const needed = this.length + part.length;
    if (needed > this.buffer.length) this.makeRoom(Math.max(needed, 2 * this.buffer.length));
    part.copy(this.buffer, this.length);
  }

  private makeRoom(capacity: number): void {
    this.take(capacity - this.buffer.length);
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}
