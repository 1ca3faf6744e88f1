const NOTHING = Buffer.alloc(0);

/**
 * Collects bytes that arrive in parts in one buffer that doubles when it is full. Kept separately, each part would take
 * about a hundred extra bytes, even if it is tiny.
 */
export class CollectedBytes {
  private buffer: Buffer = NOTHING;
  private length = 0;

  /** `take` receives the bytes of memory that are needed, before they are allocated, and may throw. */
  constructor(private readonly take: (bytes: number) => void = () => undefined) {}

  /** Allocated bytes of memory. */
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

  /** Returns all bytes and keeps none, because this object may be referenced for longer than the bytes are needed. */
  takeAll(): Buffer {
    const all = this.buffer.subarray(0, this.length);
    this.buffer = NOTHING;
    this.length = 0;
    return all;
  }

  /** Most bodies arrive in one part, which is not copied. It has no spare room, so nothing is ever written into it. */
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
