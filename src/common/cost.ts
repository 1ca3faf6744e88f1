const DIGITS = 12;

/** Rounds away the digits that sums of binary fractions add. */
export const roundedCost = (cost: number): number => Number(cost.toPrecision(DIGITS));
