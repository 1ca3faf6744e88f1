import type { Budget } from '../../catalog/costs.js';
import { exceeds } from '../../common/rounded-sum.js';

/** Used or reserved: the sum of input and output tokens, and their cost in the currency of the configured prices. */
export interface Amount {
  tokens: number;
  cost: number;
}

export const NOTHING: Amount = { tokens: 0, cost: 0 };

/** A budget that applies to an agent's calls. */
export interface Limit {
  /** The subject of a message about it: "this correlation", or "price in this correlation". */
  who: string;
  /** Null for the budget of the whole correlation. */
  agent: string | null;
  budget: Budget;
  spent: Amount;
}

/** `taken`: there is room only after other calls have given back their reservations. `short`: not even then. */
export type Room = 'free' | 'taken' | 'short';

const KINDS = ['tokens', 'cost'] as const;

type Kind = (typeof KINDS)[number];

/** `reserved`: by other calls that are running. */
export function roomIn({ budget, spent }: Limit, reserved: Amount, need: Amount): Room {
  if (exceeded(budget, sum(spent, need))) return 'short';
  return exceeded(budget, sum(sum(spent, reserved), need)) ? 'taken' : 'free';
}

/** Why the budget has no room for `need`, or is already exceeded if `need` is absent; null if it has room. */
export function shortage({ who, budget, spent }: Limit, need: Amount = NOTHING): string | null {
  const kind = exceeded(budget, sum(spent, need));
  if (!kind) return null;
  const used = `${who} has a budget of ${described(kind, budget[kind]!)} and has used ${shown(kind, spent[kind])}`;
  if (need === NOTHING) return `${used}, so it ends here; raise budget to allow more`;
  return `${used}, and the next model call may use ${described(kind, need[kind])}, so it ends here; raise budget or lower max_output_tokens`;
}

const exceeded = (budget: Budget, amount: Amount): Kind | undefined =>
  KINDS.find((kind) => exceeds(amount[kind], budget[kind] ?? Infinity));

const described = (kind: Kind, amount: number): string =>
  kind === 'tokens' ? `${shown(kind, amount)} tokens` : `a cost of ${shown(kind, amount)}`;

const shown = (kind: Kind, amount: number): string =>
  String(kind === 'tokens' ? amount : Number(amount.toPrecision(6)));

export const sum = (one: Amount, other: Amount): Amount => ({
  tokens: one.tokens + other.tokens,
  cost: one.cost + other.cost,
});
