import type { Received } from '../support/receiver.js';

type Numbered = Pick<Received, 'id' | 'correlation' | 'sequence'>;

/** Returns the ids under which each artifact was delivered. */
export function idsOf(received: readonly Numbered[]): Map<string, number> {
  const ids = Map.groupBy(received, ({ correlation, sequence }) => `${correlation} ${sequence}`);
  return new Map([...ids].map(([what, tries]) => [what, new Set(tries.map(({ id }) => id)).size]));
}

/** Returns the artifacts that arrived before an earlier one of their correlation, or after a later one. */
export function outOfOrder(received: readonly Numbered[]): string[] {
  const reached = new Map<string, number>();
  return received.flatMap(({ correlation, sequence }) => {
    const before = reached.get(correlation) ?? 0;
    reached.set(correlation, Math.max(before, sequence));
    return sequence !== before && sequence !== before + 1 ? [`${correlation}: ${sequence} after ${before}`] : [];
  });
}
