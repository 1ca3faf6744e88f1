import { v7 } from 'uuid';

const ID_BYTES = 16;

// Asking for randomness costs more than making an id of it, so it is asked for many ids at once.
const pool = new Uint8Array(256 * ID_BYTES);
let used = pool.length;
let newest = { msecs: 0, seq: 0 };

/** A new UUID v7: unique, and sorted by the time of its making. */
export function newId(): string {
  const random = nextRandom();
  const msecs = Date.now();
  // Within a millisecond, and where the clock is set back, ids count on from the newest one (RFC 9562, section 6.2).
  newest = msecs > newest.msecs ? { msecs, seq: seedOf(random) } : { msecs: newest.msecs, seq: newest.seq + 1 };
  return v7({ ...newest, random });
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Of any version: what has the form of an id may be asked for, whether this service made it or not. */
export const isUuid = (text: string): boolean => UUID.test(text);

function nextRandom(): Uint8Array {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.subarray(used - ID_BYTES, used);
}

/** 31 bits of the 32 that an id has for its count: room to count on in. */
const seedOf = (random: Uint8Array): number =>
  ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!;
