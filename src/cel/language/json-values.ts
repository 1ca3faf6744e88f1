import type { CelInput } from '@bufbuild/cel';

import { type Budget, exceeds, UNITS_A_VALUE } from './json-size.js';
import type { Use } from './variable-uses.js';

/** Converts JSON to CEL values: objects become Maps, and numbers stay doubles. */
export function toCelInput(value: unknown, budget: Budget): CelInput {
  budget.left -= UNITS_A_VALUE;
  if (typeof value === 'string') budget.left -= value.length;
  if (typeof value !== 'object' || value === null) return value as CelInput;
  if (Array.isArray(value)) return listInput(value, budget);
  if (exceeds(value, budget)) return null;
  return objectInput(value as Record<string, unknown>, budget);
}

/** Like `toCelInput`, for the parts of `value` that an expression uses. */
export function usedInput(value: unknown, use: Use, budget: Budget): CelInput {
  if (use.whole) return toCelInput(value, budget);
  budget.left -= UNITS_A_VALUE;
  if (typeof value !== 'object' || value === null) return value as CelInput;
  // A list has no fields, and an empty list causes the same error.
  if (Array.isArray(value)) return [];
  const map = new Map<string, CelInput>();
  for (const [field, fieldUse] of use.fields) {
    if (Object.hasOwn(value, field))
      map.set(field, usedInput((value as Record<string, unknown>)[field], fieldUse, budget));
  }
  return map;
}

function listInput(list: unknown[], budget: Budget): CelInput {
  const items: CelInput[] = [];
  for (const item of list) {
    if (budget.left < 0) break;
    items.push(toCelInput(item, budget));
  }
  return items;
}

function objectInput(object: Record<string, unknown>, budget: Budget): CelInput {
  const map = new Map<string, CelInput>();
  for (const key in object) {
    if (budget.left < 0) break;
    budget.left -= key.length;
    map.set(key, toCelInput(object[key], budget));
  }
  return map;
}
