import { rememberedText } from './json-text.js';

/** How much may still be read, in units of about one character. Below zero the reading ends and its result is worthless. */
export interface Budget {
  left: number;
}

export const UNITS_A_VALUE = 8;

/** Takes the size of JSON off the budget, ending as soon as that is spent; false where it was not enough. */
export function spend(value: unknown, budget: Budget): boolean {
  budget.left -= UNITS_A_VALUE;
  if (typeof value === 'string') budget.left -= value.length;
  if (typeof value !== 'object' || value === null) return budget.left >= 0;
  return Array.isArray(value) ? spendList(value, budget) : !exceeds(value, budget) && spendObject(value as Record<string, unknown>, budget);
}

/** Whether an object's known text says that it is beyond the budget, which it then spends. Listing its keys may take long. */
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
