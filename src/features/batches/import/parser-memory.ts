import type { IncomingBody } from '../../../http/bodies/incoming-bodies.js';

/** A field becomes a string, which takes two bytes per character. */
const TIMES = 2;

/**
 * Counts the memory of an upload's parser: the bytes that went in, minus those that came out as the content of files.
 * The parser keeps a plain field until it is complete, and does not report it before.
 */
export class ParserMemory {
  private inside = 0;
  private counted = 0;

  /** `mostBytes` is the maximum size of a plain field. */
  constructor(
    private readonly incoming: IncomingBody,
    private readonly mostBytes: number,
  ) {}

  /** Throws DomainError `unavailable` where the memory budget is used up. */
  goesIn(bytes: number): void {
    this.inside += bytes;
    const kept = Math.min(this.inside, this.mostBytes);
    if (kept <= this.counted) return;
    this.incoming.grow(TIMES * (kept - this.counted));
    this.counted = kept;
  }

  comesOut(bytes: number): void {
    this.inside -= bytes;
  }
}
