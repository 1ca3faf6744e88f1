/** Smaller texts are not counted, because counting takes longer than it is worth. */
const SMALL_BYTES = 1_024;
/** Bytes of memory for one byte of small JSON. The highest measured value was 37. */
const MOST_TIMES = 40;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;

/**
 * Bytes of memory that V8 takes for the value that a JSON character begins or ends, measured on lists of a megabyte.
 */
const COST = new Uint8Array(256);
COST['{'.charCodeAt(0)] = 48;
COST['['.charCodeAt(0)] = 48;
COST[','.charCodeAt(0)] = 24;
COST[COLON] = 48;
/** For a key such as "30", V8 also allocates room for the numbers before it. */
const INDEX_KEY_COST = 190;

/**
 * Estimates the bytes of memory of a JSON text together with the value parsed from it: 2 for each byte of plain text,
 * 24 for each byte of `[{},{},...]`.
 */
export function parsedSize(json: Buffer): number {
  if (json.length <= SMALL_BYTES) return json.length * MOST_TIMES;
  let bytes = 2 * json.length;
  for (let at = 0; at < json.length; at++) {
    const character = json[at]!;
    if (character === QUOTE) at = closingQuote(json, at);
    else {
      bytes += COST[character]!;
      if (character === COLON && isIndexKey(json, at)) bytes += INDEX_KEY_COST;
    }
  }
  return bytes;
}

function closingQuote(json: Buffer, opening: number): number {
  let at = opening + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Whether the key before the colon ends like a number. */
function isIndexKey(json: Buffer, colon: number): boolean {
  let quote = colon - 1;
  while (isBlank(json[quote])) quote -= 1;
  return isDigit(json[quote - 1]) && (isDigit(json[quote - 2]) || json[quote - 2] === QUOTE);
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

const isBlank = (byte: number | undefined): boolean => byte !== undefined && byte <= SPACE;
