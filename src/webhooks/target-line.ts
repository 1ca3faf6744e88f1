/**
 * The line in which deliveries to a target wait. It names the target's origin too, since all targets of one host together have a
 * bound of their own; an origin holds no space.
 */
export const lineOf = ({ origin, target_id }: { origin: string; target_id: string }): string => `${origin} ${target_id}`;

export const originOf = (line: string): string => line.slice(0, line.indexOf(' '));
