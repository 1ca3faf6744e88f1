import { type CelEnv, celEnv, type CelInput, type CelResult, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

import { DEEPEST_NESTING, LONGEST_SOURCE } from './expression-limits.js';
import { boundedFunctions } from './functions.js';
import { parts } from './syntax-tree.js';

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
    throw new Error(`is not valid CEL: ${syntaxMessage(error)}`);
  }
}

/** Rewrites `<input>:1:3: found b but expecting ...` without the long list of alternatives. */
function syntaxMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const place = /<input>:(\d+):(\d+): (.*?)( but expecting .*)?$/s.exec(message);
  return place ? `line ${place[1]}, column ${place[2]}: ${place[3]}` : message;
}

const tooDeep = (): Error => new Error(`must not nest deeper than ${DEEPEST_NESTING} operations`);

function isDeeperThan(levels: number, expr: Parsed['expr']): boolean {
  return levels === 0 || parts(expr).some((part) => isDeeperThan(levels - 1, part));
}
