import type { IncomingBody } from '../../../http/bodies/incoming-bodies.js';

/** A field becomes a text, which takes two bytes a character. */
const TIMES = 2;

/**
 * What the parser of an upload keeps: what has gone in, but for what has come out as the content of files. It keeps a plain field until
 * that has arrived whole, and tells nothing of it before.
 */
export class ParserMemory {
  private inside = 0;
  private counted = 0;

  /** `mostBytes`: of a plain field. */
  constructor(
    private readonly incoming: IncomingBody,
    private readonly mostBytes: number,
  ) {}

  /** DomainError `unavailable` if the budget has no room. */
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
