import { type CelError, unparse } from '@bufbuild/cel';

import type { Parsed } from './language.js';
import { type Expr, parts } from './syntax-tree.js';

const LONGEST_QUOTE = 80;

/** The library's messages that do not quote the inputs. */
const QUOTES_NOTHING = new RegExp(
  '^(found no matching overload|type mismatch|unresolved attribute|unsupported key type|unknown type|' +
    '(int|uint) (overflow|divide by zero|modulus by zero)|duration out of range|Failed to parse duration|' +
    'more than \\d+ bytes|Invalid string length|Maximum call stack)',
);

/** Messages that end with a name, which may come from an input. */
const ENDS_WITH_NAME = /^(field not found|map key conflict): (.*)$/s;

/**
 * Returns what went wrong and where, without quoting the inputs: the text is logged, and payloads must not be in logs.
 */
export function errorText(problem: CelError, parsed: Parsed, source: string): string {
  const place = problem.exprId === undefined ? undefined : find(parsed.expr, problem.exprId);
  return `${withoutValues(problem.message, source)}${place ? quotation(place, parsed, source) : ''}`;
}

function quotation(place: Expr, parsed: Parsed, source: string): string {
  // A chain of accesses fails at its first name, which would be a misleading quote.
  if (place.exprKind.case === 'identExpr') return '';
  const quote = unparse({ ...parsed, expr: place });
  // Parts that a macro added contain generated names.
  return quote === source || quote.includes('@') ? '' : ` in \`${shortened(quote)}\``;
}

function withoutValues(message: string, source: string): string {
  const named = ENDS_WITH_NAME.exec(message);
  if (named) return source.includes(named[2]!) ? message : named[1]!;
  if (/^index .* out of bounds/.test(message)) return 'index out of bounds';
  return QUOTES_NOTHING.test(message) ? message : 'an argument has a value that does not fit';
}

function find(expr: Expr, id: bigint): Expr | undefined {
  if (expr.id === id) return expr;
  for (const part of parts(expr)) {
    const found = find(part, id);
    if (found) return found;
  }
  return undefined;
}

const shortened = (text: string): string => (text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
