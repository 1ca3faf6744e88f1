import type { ErrorObject } from 'ajv';

import { listed } from '../../common/names-in-messages.js';

/**
 * Says what a value in a configuration must be, in words of its author, who may not know JSON Schema. Undefined for a rule that no
 * schema of this service has.
 */
export function authorWords({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  const { limit } = params as { limit: number };
  switch (keyword) {
    case 'type':
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${kindsOf(parentSchema as Rule)}`;
    case 'minLength':
      return limit === 1 ? EMPTY : `must be at least ${limit} characters long`;
    case 'maxLength':
      return `must be at most ${limit} characters long`;
    case 'minItems':
      return limit === 1 ? EMPTY : `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'minProperties':
      return limit === 1 ? EMPTY : `must have at least ${limit} keys`;
    case 'pattern':
      return `must match the regular expression ${(parentSchema as { pattern: string }).pattern}`;
    case 'false schema':
    case 'not':
      return 'is not allowed here';
    default:
      return undefined;
  }
}

const EMPTY = 'must not be empty';

interface Rule {
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

/** A number is named with its whole range, so that the next attempt is valid. */
function kindsOf({ type = 'number', ...range }: Rule): string {
  const names = [type].flat().map((name) => {
    const words = KINDS[name] ?? name;
    return name === 'number' || name === 'integer' ? `${words}${rangeText(range)}` : words;
  });
  return listed(names, 'or');
}

function rangeText({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Omit<Rule, 'type'>): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`less than ${exclusiveMaximum}`]),
  ];
  return bounds.length === 0 ? '' : ` that is ${bounds.join(' and ')}`;
}
