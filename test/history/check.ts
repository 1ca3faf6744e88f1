import { limitBreaches } from './limit-checks.ts';
import { readHistory } from './operations.ts';
import { positionBreaches } from './position-checks.ts';
import { requestBreaches } from './request-checks.ts';
import { settlementBreaches } from './settlement-checks.ts';
import { workBreaches } from './work-checks.ts';

/** The size of a history, and one line for each broken promise. */
export interface Verdict {
  operations: number;
  breaches: string[];
}

/** Throws an error if the text is not a whole history. */
export function check(text: string): Verdict {
  const history = readHistory(text);
  return {
    operations: history.operations.length,
    breaches: [
      ...history.breaches,
      ...requestBreaches(history),
      ...workBreaches(history),
      ...settlementBreaches(history),
      ...limitBreaches(history),
      ...positionBreaches(history),
    ],
  };
}
