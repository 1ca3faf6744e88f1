import { type Budget, spend } from './json-size.js';
import { rememberedText } from './json-text.js';

// Text up to this size is written in one piece, in well under a millisecond.
const UNITS_AT_ONCE = 65_536;

/** The JSON text of `value` in pieces, each of which is made quickly, no matter how large the whole is. */
export function* jsonPieces(value: unknown): Generator<string> {
  const known = typeof value === 'object' && value !== null ? rememberedText(value) : undefined;
  if (known !== undefined) yield known;
  else if (isSmall(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* stringPieces(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value as object);
}

function* stringPieces(text: string): Generator<string> {
  yield '"';
  // A cut between two surrogates does no harm: each is written as an escape, and parsing joins them again.
  for (let start = 0; start < text.length; start += UNITS_AT_ONCE) {
    yield JSON.stringify(text.slice(start, start + UNITS_AT_ONCE)).slice(1, -1);
  }
  yield '"';
}

function* listPieces(list: unknown[]): Generator<string> {
  let separator = '[';
  for (let start = 0; start < list.length;) {
    const end = endOfSmall(list, start);
    yield separator;
    // Writes as many elements as are small together, or a single large one.
    if (end > start) yield JSON.stringify(list.slice(start, end)).slice(1, -1);
    else yield* jsonPieces(list[start]);
    start = Math.max(end, start + 1);
    separator = ',';
  }
  yield ']';
}

function* objectPieces(object: object): Generator<string> {
  let separator = '{';
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* jsonPieces(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** The end of the longest run of elements from `start` that are small together. */
function endOfSmall(list: unknown[], start: number): number {
  const budget: Budget = { left: UNITS_AT_ONCE };
  let end = start;
  while (end < list.length && spend(list[end], budget)) end++;
  return end;
}

const isSmall = (value: unknown): boolean => spend(value, { left: UNITS_AT_ONCE });
