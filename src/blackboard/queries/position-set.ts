const BITS = 32;
const WORDS = 1_024;
const POSITIONS = BITS * WORDS;

/**
 * A set of positions with one bit for each, in chunks that are allocated when needed. A long history takes kilobytes,
 * where a Set takes megabytes, and a few distant positions take little too.
 */
export class PositionSet {
  private readonly chunks = new Map<number, Uint32Array>();

  /** Returns false if the set already contains the position. */
  add(position: number): boolean {
    const chunk = this.chunk(Math.floor(position / POSITIONS));
    const place = position % POSITIONS;
    const word = Math.floor(place / BITS);
    const bit = 1 << (place % BITS);
    if ((chunk[word]! & bit) !== 0) return false;
    chunk[word]! |= bit;
    return true;
  }

  /** Returns `limit` positions after the first `offset`, in this order. */
  page(order: 'asc' | 'desc', offset: number, limit: number): number[] {
    const found: number[] = [];
    let skip = offset;
    for (const [number, chunk] of this.inOrder(order)) {
      const size = sizeOf(chunk);
      if (skip < size) found.push(...positionsIn(number, chunk, order).slice(skip, skip + limit - found.length));
      skip = Math.max(0, skip - size);
      if (found.length >= limit) break;
    }
    return found;
  }

  private chunk(number: number): Uint32Array {
    let chunk = this.chunks.get(number);
    if (!chunk) this.chunks.set(number, (chunk = new Uint32Array(WORDS)));
    return chunk;
  }

  private inOrder(order: 'asc' | 'desc'): [number, Uint32Array][] {
    const sign = order === 'asc' ? 1 : -1;
    return [...this.chunks].sort(([one], [other]) => sign * (one - other));
  }
}

const sizeOf = (chunk: Uint32Array): number => chunk.reduce((size, word) => size + ones(word), 0);

function positionsIn(number: number, chunk: Uint32Array, order: 'asc' | 'desc'): number[] {
  const positions: number[] = [];
  chunk.forEach((word, index) => {
    for (let rest = word; rest !== 0; rest &= rest - 1)
      positions.push(number * POSITIONS + index * BITS + lowestOne(rest));
  });
  return order === 'asc' ? positions : positions.reverse();
}

const lowestOne = (word: number): number => BITS - 1 - Math.clz32(word & -word);

function ones(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
