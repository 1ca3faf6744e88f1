import type { ClaimedExecution } from '../execution/claims.js';

/** What somebody outside asks for. */
export interface ClaimRequest {
  /** External ones; executions of the first are claimed before those of the next. */
  agents: readonly string[];
  /** Executions at once. */
  max: number;
  /** Takes those that are this one's; null those that are nobody's. */
  assignee: string | null;
  /** Who claims, as those who look see it. */
  claimedBy: string | null;
}

/** What somebody waits for who takes only what is theirs. */
export interface AskedFor {
  agent: string;
  assignee: string;
}

/** `whyNot`: why it cannot be claimed now; null where its state says so. */
export type ClaimOfOne = { held: HeldExecution } | { whyNot: string | null };

/** What somebody outside holds by a lease. */
export type HeldExecution = Omit<ClaimedExecution, 'inputs'> & {
  /** What its holder shows. */
  token: string;
  /** Epoch ms. */
  leaseUntil: number;
};
