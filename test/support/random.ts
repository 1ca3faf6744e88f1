/** A seeded generator (mulberry32): a failing schedule is replayed from the seed that it printed. */
export class Random {
  constructor(private state: number) {}

  /** From [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }
}

/** The tests that each commit has to pass draw the same values every time, so that they judge the commit and not the draw. */
const USUAL_SEED = 20_261_126;

/** Returns the seed in `STARLING_SEED`, a new one if that is `random`, and otherwise the usual one. It is always printed. */
export function printedSeed(): number {
  const { STARLING_SEED: chosen } = process.env;
  const seed = chosen === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(chosen ?? USUAL_SEED);
  console.log(`seed ${seed} (replay with STARLING_SEED=${seed})`);
  return seed;
}
