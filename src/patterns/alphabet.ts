import { type CodePoints, LAST_CODE_POINT } from './code-points.js';

const ASCII = 128;

/**
 * Groups code points into classes: each set of a pattern contains all code points of a class or none. Classes count
 * from 0.
 */
export class Alphabet {
  readonly size: number;
  private readonly starts: Int32Array;
  private readonly classes: Int32Array;
  private readonly ascii: Int32Array;

  constructor(sets: readonly CodePoints[]) {
    const starts = new Set([
      0,
      ...sets.flatMap((set) => set.map((bound, index) => (index % 2 === 0 ? bound : bound + 1))),
    ]);
    starts.delete(LAST_CODE_POINT + 1);
    this.starts = Int32Array.from(starts).sort();
    this.classes = new Int32Array(this.starts.length);
    this.size = sets.reduce((count, set) => this.split(set, count), 1);
    this.ascii = Int32Array.from({ length: ASCII }, (_, codePoint) => this.search(codePoint));
  }

  classOf(codePoint: number): number {
    return codePoint < ASCII ? this.ascii[codePoint]! : this.search(codePoint);
  }

  /** The classes that `set` consists of. It must be one of the sets that the alphabet was made from. */
  classesOf(set: CodePoints): number[] {
    const classes = new Set<number>();
    this.eachIn(set, (index) => classes.add(this.classes[index]!));
    return [...classes];
  }

  /** Separates the code points of `set` from all others, and returns the new number of classes. */
  private split(set: CodePoints, count: number): number {
    const inside = new Set<number>();
    this.eachIn(set, (index) => inside.add(index));
    const outside = new Set(this.classes.filter((_, index) => !inside.has(index)));
    const renamed = new Map<number, number>();
    let next = count;
    this.eachIn(set, (index) => {
      const old = this.classes[index]!;
      if (!outside.has(old)) return;
      if (!renamed.has(old)) renamed.set(old, next++);
      this.classes[index] = renamed.get(old)!;
    });
    return next;
  }

  private eachIn(set: CodePoints, visit: (index: number) => void): void {
    for (let range = 0; range < set.length; range += 2) {
      for (
        let index = this.indexOf(set[range]!);
        index < this.starts.length && this.starts[index]! <= set[range + 1]!;
        index++
      )
        visit(index);
    }
  }

  private search(codePoint: number): number {
    return this.classes[this.indexOf(codePoint)]!;
  }

  /** Index of the last start that is not larger than `codePoint`. */
  private indexOf(codePoint: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
