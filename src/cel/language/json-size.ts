import { rememberedText } from './json-text.js';

/**
 * How much may still be read, in units of about one character. Below zero, reading stops and its result must not be
 * used.
 */
export interface Budget {
  left: number;
}

export const UNITS_A_VALUE = 8;

/** Subtracts the size of JSON from the budget and stops when it is used up. False if the budget was too small. */
export function spend(value: unknown, budget: Budget): boolean {
  budget.left -= UNITS_A_VALUE;
  if (typeof value === 'string') budget.left -= value.length;
  if (typeof value !== 'object' || value === null) return budget.left >= 0;
  return Array.isArray(value)
    ? spendList(value, budget)
    : !exceeds(value, budget) && spendObject(value as Record<string, unknown>, budget);
}

/**
 * Whether an object's known text shows that it exceeds the budget, which is then used up. Listing its keys could take
 * long.
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
