import { finished, Readable } from 'node:stream';

import { CollectedBytes } from './collected-bytes.js';
import type { IncomingBody } from './incoming-bodies.js';

const PART_BYTES = 16 * 1_024;

/** The maximum memory, in bytes, of the parts while their reader keeps up. */
export const LARGER_PARTS_BYTES = 2 * PART_BYTES;

/**
 * A body in parts of at least 16 KiB, except for the last. The client chooses the size of the parts in which its body
 * arrives, and each takes hundreds of extra bytes, even if it is tiny. Code that keeps parts, or writes each one to
 * disk, must not receive them unchanged. After `destroy`, the rest is still received and dropped: a client that is cut
 * off during its upload would not see the answer.
 */
export class LargerParts extends Readable {
  private readonly collected = new CollectedBytes();
  private readonly stopWatching: () => void;

  constructor(
    private readonly source: Readable,
    private readonly incoming: IncomingBody,
  ) {
    super({ highWaterMark: PART_BYTES });
    source.on('data', this.add);
    this.stopWatching = finished(source, { writable: false }, (error) => (error ? this.destroy(error) : this.end()));
  }

  override _read(): void {
    this.source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.stopWatching();
    this.source.off('data', this.add).resume();
    this.collected.takeAll();
    done(error);
  }

  private readonly add = (part: Buffer): void => {
    this.incoming.partArrived(part.length);
    this.collected.add(part);
    if (this.collected.size >= PART_BYTES && !this.push(this.collected.takeAll())) this.source.pause();
  };

  private end(): void {
    if (this.collected.size > 0) this.push(this.collected.takeAll());
    this.push(null);
  }
}
