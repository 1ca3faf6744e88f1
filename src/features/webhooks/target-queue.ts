/**
 * Returns the name of a target's queue. It begins with the target's origin, because all targets of an origin share a
 * limit. An origin contains no space.
 */
export const queueOf = ({ origin, target_id }: { origin: string; target_id: string }): string =>
  `${origin} ${target_id}`;

export const originOf = (queue: string): string => queue.slice(0, queue.indexOf(' '));
