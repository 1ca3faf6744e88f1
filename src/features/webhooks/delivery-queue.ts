import { queueOver, type Rank, type RowOf } from '../../queue/queue.js';

/** Each target has a queue of deliveries, so that a slow or dead target does not delay others. */
export const DELIVERIES = queueOver('deliveries', 'queue', [
  'target_id',
  'correlation_id',
  'sequence',
  'attempt',
  'traceparent',
]);

/** The columns that are read for a claimed delivery, and for one whose lease was lost. */
export type LeasedDelivery = RowOf<typeof DELIVERIES>;

/** All deliveries have the same priority. */
export const RANKS: Rank[] = [0, 1].map((background) => ({ priority: 0, background }));

/**
 * Returns the name of a target's queue. It begins with the target's origin, because all targets of an origin share a
 * limit. An origin contains no space.
 */
export const queueOf = ({ origin, target_id }: { origin: string; target_id: string }): string =>
  `${origin} ${target_id}`;

export const originOf = (queue: string): string => queue.slice(0, queue.indexOf(' '));
