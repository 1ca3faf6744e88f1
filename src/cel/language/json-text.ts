// Writing a shorter text again is faster than remembering it.
const REMEMBERED_FROM = 4_096;

const texts = new WeakMap<object, string>();

/**
 * Remembers that `text` is the JSON of `value`, which must not change any more. Code that reads or writes a payload's
 * text calls it, so that an expression that needs a large payload can pass on the text. Otherwise just listing the keys
 * of an object with a hundred thousand keys would block the main thread for 20 ms.
 */
export function rememberText(value: object, text: string): void {
  if (text.length >= REMEMBERED_FROM) texts.set(value, text);
}

/** Undefined for values whose text is short or unknown. */
const rememberedText = (value: object): string | undefined => texts.get(value);

/**
 * How much may still be read, in units of about one character. Below zero, reading stops and its result must not be
 * used.
 */
export interface Budget {
  left: number;
}

export const UNITS_A_VALUE = 8;

/** Subtracts the size of JSON from the budget and stops when it is used up. False if the budget was too small. */
function spend(value: unknown, budget: Budget): boolean {
  budget.left -= UNITS_A_VALUE;
  if (typeof value === 'string') budget.left -= value.length;
  if (typeof value !== 'object' || value === null) return budget.left >= 0;
  return Array.isArray(value)
    ? spendList(value, budget)
    : !exceeds(value, budget) && spendObject(value as Record<string, unknown>, budget);
}

/**
 * Whether an object's known text shows that it exceeds the budget, which is then used up. Listing its keys could be
 * slow.
 */
export function exceeds(value: object, budget: Budget): boolean {
  const text = rememberedText(value);
  if (text !== undefined && text.length > budget.left) budget.left = -1;
  return budget.left < 0;
}

function spendList(list: unknown[], budget: Budget): boolean {
  for (const item of list) if (!spend(item, budget)) return false;
  return true;
}

function spendObject(object: Record<string, unknown>, budget: Budget): boolean {
  for (const key in object) {
    budget.left -= key.length;
    if (!spend(object[key], budget)) return false;
  }
  return true;
}

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
