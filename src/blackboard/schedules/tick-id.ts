import { createHash } from 'node:crypto';

import { v7 } from 'uuid';

const hashOf = (schedule: string, scheduledFor: number): Buffer =>
  createHash('sha256').update(`${schedule}\0${scheduledFor}`).digest();

const ID_BYTES = 16;

/** The artifact's id: a UUID v7 of the tick's time whose other bits are a hash of schedule and tick. */
export const tickId = (schedule: string, scheduledFor: number): string =>
  v7({ msecs: scheduledFor, random: hashOf(schedule, scheduledFor).subarray(0, ID_BYTES) });

/** How much later a tick is published: from 0 to `jitterMs`, a whole number, the same in all processes. */
export const delayOf = (schedule: string, scheduledFor: number, jitterMs: number): number =>
  jitterMs === 0 ? 0 : hashOf(schedule, scheduledFor).readUIntBE(ID_BYTES, 6) % (jitterMs + 1);
