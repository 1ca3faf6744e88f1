import type { Cascade, CascadeArtifact } from './cascade.js';
import { PlaceNumbers, placesOf } from './cascade-places.js';

/** An artifact and its counterpart. One side is null if there is none. */
export interface Pair {
  left: CascadeArtifact | null;
  right: CascadeArtifact | null;
  /** Whether both have the same type and producer but are at different places in their cascades. */
  moved: boolean;
}

/**
 * Pairs the artifacts of two cascades: first those at the same place, then those that remain by type and producer, in
 * order. The pairs are in the order of the left cascade. An artifact that is only on the right follows the pair of the
 * artifact before it.
 */
export function pairsOf(left: Cascade, right: Cascade): Pair[] {
  const numbers = new PlaceNumbers();
  const [leftPlaces, rightPlaces] = [placesOf(left, numbers), placesOf(right, numbers)];
  const paired = new Map<CascadeArtifact, Pair>();
  const match = (keyOf: (artifact: CascadeArtifact, isLeft: boolean) => unknown, moved: boolean): void => {
    const open = Map.groupBy(
      right.artifacts.filter((artifact) => !paired.has(artifact)),
      (artifact) => keyOf(artifact, false),
    );
    for (const artifact of left.artifacts) {
      const counterpart = paired.has(artifact) ? undefined : open.get(keyOf(artifact, true))?.shift();
      if (!counterpart) continue;
      const pair = { left: artifact, right: counterpart, moved };
      paired.set(artifact, pair).set(counterpart, pair);
    }
  };
  match(
    ({ id, type, produced_by }, isLeft) =>
      JSON.stringify([(isLeft ? leftPlaces : rightPlaces).get(id), type, produced_by]),
    false,
  );
  match(({ type, produced_by }) => JSON.stringify([type, produced_by]), true);
  return inOrder(left, right, paired);
}

function inOrder(left: Cascade, right: Cascade, paired: ReadonlyMap<CascadeArtifact, Pair>): Pair[] {
  /** The artifacts that are only on the right, by the paired artifact before them. */
  const onlyRight = new Map<CascadeArtifact | null, Pair[]>([[null, []]]);
  let before: CascadeArtifact | null = null;
  for (const artifact of right.artifacts) {
    if (paired.has(artifact)) onlyRight.set((before = artifact), []);
    else onlyRight.get(before)!.push({ left: null, right: artifact, moved: false });
  }
  return [
    ...onlyRight.get(null)!,
    ...left.artifacts.flatMap((artifact) => {
      const pair = paired.get(artifact);
      return pair ? [pair, ...onlyRight.get(pair.right)!] : [{ left: artifact, right: null, moved: false }];
    }),
  ];
}
