import type { Random as RandomPort } from '../../src/common/random.js';
import type { Random } from '../support/random.js';

/** Random numbers, ids and tokens of the service from a seed. */
export class SeededRandom implements RandomPort {
  constructor(private readonly random: Random) {}

  number(): number {
    return this.random.next();
  }

  fill(bytes: Uint8Array<ArrayBuffer>): void {
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = this.random.between(0, 255);
  }

  uuid(): string {
    const bytes = Buffer.alloc(16);
    this.fill(bytes);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
}
