import { shown } from '../../common/short-text.js';

const MAX_DEPTH = 64;
const LONGEST_SHOWN = 40;

/**
 * Returns why parsed JSON is unsafe to handle, or null if it is safe. Unsafe are: nesting that overflows the stack of a
 * recursive walk, numbers that JSON can write but a double cannot hold (they would be returned as null), and whole numbers
 * that a double rounds, because a client's id would be stored as another one. Walks level by level and visits each value
 * once. Keys such as `__proto__` are data: JSON.parse makes them own fields, and no code that handles payloads assigns to a
 * name that a client chose.
 */
export function findUnsafeJson(text: string, root: unknown, levelOfRoot = 1): string | null {
  let level: object[] = isObject(root) ? [root] : [];
  let mayBeRounded = false;
  for (let depth = levelOfRoot; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `The body is nested deeper than ${MAX_DEPTH} levels`;
    const next: object[] = [];
    for (const node of level) {
      const largest = Array.isArray(node) ? walkList(node, next) : walkObject(node, next);
      if (largest === Infinity) return 'The body holds a number that is too large for a double';
      mayBeRounded ||= largest > Number.MAX_SAFE_INTEGER;
    }
    level = next;
  }
  return mayBeRounded ? findRounded(text) : null;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the largest absolute value of the numbers in the list, and adds the objects in it to `next`. */
function walkList(list: unknown[], next: object[]): number {
  let largest = 0;
  for (const value of list) {
    if (isObject(value)) next.push(value);
    else if (typeof value === 'number') largest = Math.max(largest, Math.abs(value));
  }
  return largest;
}

// for...in is about twice as fast as Object.keys, and objects made by JSON.parse inherit nothing enumerable.
function walkObject(node: object, next: object[]): number {
  let largest = 0;
  for (const key in node) {
    const value = (node as Record<string, unknown>)[key];
    if (isObject(value)) next.push(value);
    else if (typeof value === 'number') largest = Math.max(largest, Math.abs(value));
  }
  return largest;
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE_NUMBER = /^-?\d+$/;

function findRounded(text: string): string | null {
  for (const [token] of text.matchAll(STRING_OR_NUMBER)) {
    if (!WHOLE_NUMBER.test(token) || isKept(token)) continue;
    return `The body holds the whole number ${shown(token, LONGEST_SHOWN)}, which a double cannot hold exactly; send it as a string`;
  }
  return null;
}

const DIGITS = new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 0 });

/** Whether a double keeps the number, or writes it with the same digits: JavaScript writes its own large numbers so. */
function isKept(token: string): boolean {
  const number = Number(token);
  return BigInt(token) === BigInt(number) || DIGITS.format(number) === token;
}
