import { nearestName } from './nearest-name.js';

const MOST_NAMED = 10;
const LONGEST_NAME = 100;

export interface UnknownField {
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
    .slice(0, MOST_NAMED)
    .map((name) => ({ name: shown(name), problem: `is not ${what}; ${adviceOn(name, known)}` }));
  if (unknown.length > MOST_NAMED) named.at(-1)!.problem += ` (${unknown.length - MOST_NAMED} more fields are unknown)`;
  return named;
}

function adviceOn(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return known.length === 0 ? 'none is known here' : `known here: ${known.join(', ')}`;
}

const shown = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name);
