const DIGITS = 12;

/** Rounds away the digits that sums of binary fractions add: 0.1 + 0.2 is 0.30000000000000004. */
export const roundedSum = (sum: number): number => Number(sum.toPrecision(DIGITS));

/** Whether a sum is more than a bound. Both are rounded, because a client may have computed the bound as well. */
export const exceeds = (sum: number, bound: number): boolean => roundedSum(sum) > roundedSum(bound);
