/** The known name that is closest in spelling, for "did you mean"; undefined if none is close enough. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  // At most a third of the letters may differ: beyond that the suggestion would be a guess.
  let distance = Math.floor(name.length / 3) + 1;
  for (const candidate of known) {
    const candidateDistance = editDistance(name.toLowerCase(), candidate.toLowerCase(), distance);
    if (candidateDistance < distance) [nearest, distance] = [candidate, candidateDistance];
  }
  return nearest;
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, at most `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  // This also prevents quadratic time for a hostile name of a megabyte.
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, beforePrevious[column - 2]! + 1);
      current.push(best);
    }
    [beforePrevious, previous] = [previous, current];
  }
  return Math.min(previous[b.length]!, limit);
}
