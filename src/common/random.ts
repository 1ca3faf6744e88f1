import { randomUUID } from 'node:crypto';

/**
 * Random numbers, ids and tokens. `src` takes them from here alone (`test/architecture/scheduler.spec.ts`), so that a
 * simulation can decide them. Keys and initialization vectors are not taken from here: they are never replaced.
 */
export interface Random {
  /** From [0, 1). */
  number(): number;
  /** Fills `bytes`. */
  fill(bytes: Uint8Array<ArrayBuffer>): void;
  /** Returns a UUID v4 that cannot be guessed. */
  uuid(): string;
}

class SystemRandom implements Random {
  number(): number {
    return Math.random();
  }

  fill(bytes: Uint8Array<ArrayBuffer>): void {
    crypto.getRandomValues(bytes);
  }

  uuid(): string {
    return randomUUID();
  }
}

export let random: Random = new SystemRandom();

/** Returns a function that takes the replacement back. */
export function replaceRandom(other: Random): () => void {
  const before = random;
  random = other;
  return () => (random = before);
}
