const BITS = 32;

/** A set of positions, one bit each: counting the executions of a long history takes kilobytes, not a Set's megabytes. */
export class PositionSet {
  private words = new Uint32Array(1_024);

  /** False where it was there already. */
  add(position: number): boolean {
    const word = Math.floor(position / BITS);
    if (word >= this.words.length) this.grow(word + 1);
    const bit = 1 << (position % BITS);
    if ((this.words[word]! & bit) !== 0) return false;
    this.words[word]! |= bit;
    return true;
  }

  private grow(length: number): void {
    const words = new Uint32Array(Math.max(length, this.words.length * 2));
    words.set(this.words);
    this.words = words;
  }
}
