import { celFunc, celMethod, CelScalar, listType } from '@bufbuild/cel';
import { growList } from './growing-list.js';
import { MOST_BYTES } from './expression-limits.js';

const { BYTES, INT, STRING } = CelScalar;
const LIST = listType(CelScalar.DYN);

let bytesMade = 0;

/** Begins the count of `MOST_BYTES` anew. */
export function resetBytes(): void {
  bytesMade = 0;
}

/** Takes the place of the library's functions of the same names, which are quadratic or allocate without a bound. */
export const boundedFunctions = [
  celFunc('_+_', [LIST, LIST], LIST, growList),
  celFunc('_+_', [BYTES, BYTES], BYTES, (left, right) => counted(new Uint8Array(Buffer.concat([left, right])))),
  celFunc('bytes', [STRING], BYTES, (text) => counted(new TextEncoder().encode(text))),
  celMethod('replace', STRING, [STRING, STRING], STRING, replaceAll),
  celMethod('replace', STRING, [STRING, STRING, INT], STRING, replaceSome),
];

function counted(bytes: Uint8Array): Uint8Array {
  bytesMade += bytes.length;
  if (bytesMade > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes in values of type bytes`);
  return bytes;
}

function replaceAll(this: string, found: string, replacement: string): string {
  // A function, since a text would be read for `$` patterns.
  return this.replaceAll(found, () => replacement);
}

/** The first `most` occurrences; all of them where it is negative, as in CEL's own implementations. */
function replaceSome(this: string, found: string, replacement: string, most: bigint): string {
  if (most < 0n) return replaceAll.call(this, found, replacement);
  let left = most;
  return this.replaceAll(found, () => (left-- > 0n ? replacement : found));
}
