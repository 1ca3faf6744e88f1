import { celFunc, type CelList, celList, celListConcat, celMethod, CelScalar, listType } from '@bufbuild/cel';

import { MOST_BYTES } from './expression-limits.js';

const { BYTES, INT, STRING } = CelScalar;
const LIST = listType(CelScalar.DYN);

let bytesMade = 0;

/** Resets the count for `MOST_BYTES`. */
export function resetBytes(): void {
  bytesMade = 0;
}

/** Replaces the library's functions of the same names, which take quadratic time or allocate without a limit. */
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
  // A function, because `$` patterns in a string would be interpreted.
  return this.replaceAll(found, () => replacement);
}

/** Replaces the first `most` occurrences, or all if it is negative, as in CEL's own implementations. */
function replaceSome(this: string, found: string, replacement: string, most: bigint): string {
  if (most < 0n) return replaceAll.call(this, found, replacement);
  let left = most;
  return this.replaceAll(found, () => (left-- > 0n ? replacement : found));
}

const partsOf = new WeakMap<CelList, readonly CelList[]>();

/**
 * Returns `left + right`. The `map` and `filter` macros add one element at a time, and the library's own concatenation
 * nests one more list each time: reading 4,000 elements takes 0.2 s, and 8,000 overflow the stack. This function merges
 * neighbours of similar size, as in a binary counter, so that a list has few parts and each element is copied only a
 * few times.
 */
function growList(left: CelList, right: CelList): CelList {
  const merged = [...(partsOf.get(left) ?? [left])];
  for (const part of partsOf.get(right) ?? [right]) append(merged, part);
  const list = celListConcat(...merged);
  partsOf.set(list, merged);
  return list;
}

function append(merged: CelList[], part: CelList): void {
  let last = part;
  while (merged.length > 0 && merged.at(-1)!.size <= last.size) last = celList([...merged.pop()!, ...last]);
  merged.push(last);
}
