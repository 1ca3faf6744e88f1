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

/** `STARLING_SEED` replays a run; otherwise the seed is new. It is always printed. */
export function printedSeed(): number {
  const seed = Number(process.env.STARLING_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed} (replay with STARLING_SEED=${seed})`);
  return seed;
}
