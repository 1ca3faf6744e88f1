const MOST_LISTED = 10;

/** `a, b and c`. A long list is cut after ten names: `..., j and 5 more`. */
export function listed(names: readonly string[], word: 'and' | 'or'): string {
  const shown =
    names.length > MOST_LISTED ? [...names.slice(0, MOST_LISTED), `${names.length - MOST_LISTED} more`] : names;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${word} ${shown.at(-1)}`;
}

/**
 * The known name that is closest in spelling, for "did you mean"; undefined if none is close enough: at most a third of
 * the letters may differ, and at most `mostDifferences`, because beyond that the suggestion would be a guess.
 */
export function nearestName(name: string, known: Iterable<string>, mostDifferences = Infinity): string | undefined {
  let nearest: string | undefined;
  let distance = Math.min(Math.floor(name.length / 3), mostDifferences) + 1;
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

const MOST_UNKNOWN = 10;
const LONGEST_NAME = 100;

interface UnknownField {
  /** The name of the field, shortened if it is long. */
  name: string;
  /** The problem, and what to write instead. */
  problem: string;
}

/**
 * The fields of `given` that are not `known`. Names the first ten and counts the others, so that the answer stays
 * short.
 */
export function unknownFields(given: object, known: readonly string[], what = 'a known field'): UnknownField[] {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const named = unknown
    .slice(0, MOST_UNKNOWN)
    .map((name) => ({ name: shortened(name), problem: `is not ${what}; ${adviceOn(name, known)}` }));
  if (unknown.length > MOST_UNKNOWN)
    named.at(-1)!.problem += ` (${unknown.length - MOST_UNKNOWN} more fields are unknown)`;
  return named;
}

function adviceOn(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return known.length === 0 ? 'none is known here' : `known here: ${known.join(', ')}`;
}

const shortened = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name);
