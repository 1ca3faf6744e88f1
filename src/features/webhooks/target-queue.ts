/**
 * The queue in which deliveries to a target wait. It names the target's origin too, since all targets of one host together have a
 * bound of their own; an origin holds no space.
 */
export const queueOf = ({ origin, target_id }: { origin: string; target_id: string }): string => `${origin} ${target_id}`;

export const originOf = (queue: string): string => queue.slice(0, queue.indexOf(' '));
