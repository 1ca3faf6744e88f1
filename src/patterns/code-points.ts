/**
 * A set of code points: first and last of each range alternate, in ascending order, with a gap between any two ranges.
 */
export type CodePoints = readonly number[];

export const LAST_CODE_POINT = 0x10ffff;

export const single = (codePoint: number): CodePoints => [codePoint, codePoint];

export function union(sets: readonly CodePoints[]): CodePoints {
  const ranges = sets.flatMap((set) => pairs(set)).sort(([one], [other]) => one - other);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const end = merged.at(-1);
    if (end !== undefined && from <= end + 1) merged[merged.length - 1] = Math.max(end, to);
    else merged.push(from, to);
  }
  return merged;
}

/** All code points that are not in the set. */
export function complement(set: CodePoints): CodePoints {
  const others: number[] = [];
  let next = 0;
  for (const [from, to] of pairs(set)) {
    if (from > next) others.push(next, from - 1);
    next = to + 1;
  }
  if (next <= LAST_CODE_POINT) others.push(next, LAST_CODE_POINT);
  return others;
}

/**
 * Finds the code points that match an escape such as `\p{Letter}` by testing each one with the runtime's Unicode data.
 */
export function matchedBy(escape: string): CodePoints {
  const expression = new RegExp(escape, 'u');
  const set: number[] = [];
  let from = -1;
  for (let codePoint = 0; codePoint <= LAST_CODE_POINT + 1; codePoint++) {
    const matches = codePoint <= LAST_CODE_POINT && expression.test(String.fromCodePoint(codePoint));
    if (matches && from < 0) from = codePoint;
    if (matches || from < 0) continue;
    set.push(from, codePoint - 1);
    from = -1;
  }
  return set;
}

function pairs(set: CodePoints): [number, number][] {
  return Array.from({ length: set.length / 2 }, (_, index) => [set[2 * index]!, set[2 * index + 1]!]);
}
