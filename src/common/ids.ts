import { v7 } from 'uuid';

import { random } from './random.js';
import { scheduler } from './scheduler.js';

const ID_BYTES = 16;

// A call for random bytes costs more than the rest of making an id, so one call serves many ids.
const pool = new Uint8Array(256 * ID_BYTES);
let used = pool.length;
let source = random;
let newest = { msecs: 0, seq: 0 };

/** Returns a new UUID v7. Ids sort by the time at which they were made. */
export function newId(): string {
  const bytes = nextRandom();
  const msecs = scheduler.time();
  // Within a millisecond, or after the clock was set back, ids count up from the newest one (RFC 9562, section 6.2).
  newest = msecs > newest.msecs ? { msecs, seq: seedOf(bytes) } : { msecs: newest.msecs, seq: newest.seq + 1 };
  return v7({ ...newest, random: bytes });
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Accepts every UUID version: a client may ask for any id, even for one that this service did not make. */
export const isUuid = (text: string): boolean => UUID.test(text);

function nextRandom(): Uint8Array {
  if (source !== random) {
    source = random;
    used = pool.length;
    newest = { msecs: 0, seq: 0 };
  }
  if (used === pool.length) {
    random.fill(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.subarray(used - ID_BYTES, used);
}

/** The count of an id has 32 bits. The seed uses 31 of them, so that there is room to count up. */
const seedOf = (random: Uint8Array): number =>
  ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!;
