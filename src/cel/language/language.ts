import {
  type CelEnv,
  celEnv,
  celFunc,
  type CelInput,
  type CelList,
  celList,
  celListConcat,
  celMethod,
  type CelResult,
  CelScalar,
  listType,
  parse,
  plan,
} from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

import { DEEPEST_NESTING, LONGEST_SOURCE, MOST_BYTES } from './expression-limits.js';
import { parts } from './syntax-tree.js';

const { BYTES, INT, STRING } = CelScalar;
const LIST = listType(CelScalar.DYN);

let bytesMade = 0;

/** Resets the count for `MOST_BYTES`. */
export function resetBytes(): void {
  bytesMade = 0;
}

/** Replaces the library's functions of the same names, which take quadratic time or allocate without a limit. */
const boundedFunctions = [
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

/** CEL with its string extensions. */
export const language: CelEnv = celEnv({ funcs: [...strings, ...boundedFunctions] });

export type Parsed = ReturnType<typeof parse>;

/** Parses an expression. Throws an error whose message tells an operator what to change. */
export function parseExpression(source: string): Parsed {
  if (source.length > LONGEST_SOURCE) throw new Error(`must not be longer than ${LONGEST_SOURCE} characters`);
  const parsed = parseText(source);
  if (isDeeperThan(DEEPEST_NESTING, parsed.expr)) throw tooDeep();
  return parsed;
}

/**
 * Objects in the bindings must be Maps: a plain object with a key `$typeName` or `constructor` would be misinterpreted.
 */
export const planExpression = (parsed: Parsed): ((bindings: Record<string, CelInput>) => CelResult) =>
  plan(language, parsed);

function parseText(source: string): Parsed {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    throw syntaxError(error instanceof Error ? error.message : String(error), source);
  }
}

/** A text that is not CEL. `offset` is the position from which on it is not, in characters. */
export class SyntaxProblem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Reads the place from `<input>:1:3: found b but expecting ...`, which has a long list of alternatives. */
function syntaxError(message: string, source: string): SyntaxProblem {
  const [, line, column] = /<input>:(\d+):(\d+): /.exec(message) ?? [];
  if (line === undefined) return new SyntaxProblem(`is not valid CEL: ${message}`, 0);
  const before = source.split('\n').slice(0, Number(line) - 1);
  const offset = before.reduce((length, text) => length + text.length + 1, Number(column) - 1);
  const rest = source.slice(offset).trim();
  if (rest === '') return new SyntaxProblem('is not valid CEL: it ends too early', offset);
  return new SyntaxProblem(`is not valid CEL at \`${shortened(rest)}\``, offset);
}

const LONGEST_QUOTE = 40;

function shortened(text: string): string {
  const [line] = text.split('\n') as [string];
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}

const tooDeep = (): Error => new Error(`must not nest deeper than ${DEEPEST_NESTING} operations`);

function isDeeperThan(levels: number, expr: Parsed['expr']): boolean {
  return levels === 0 || parts(expr).some((part) => isDeeperThan(levels - 1, part));
}
