import type { ClaimedExecution } from '../executor/claims.js';

/** What somebody outside asks for. */
export interface ClaimRequest {
  /** External ones; executions of the first are claimed before those of the next. */
  agents: readonly string[];
  /** Executions at once. */
  max: number;
  /** Keeps to those that are this one's; null takes whoever's. */
  assignee: string | null;
  /** Who claims, as those who look see it. */
  claimedBy: string | null;
}

/** What somebody waits for who takes only what is theirs. */
export interface AskedFor {
  agent: string;
  assignee: string;
}

/** What somebody outside holds by a lease. */
export type HeldExecution = ClaimedExecution & {
  /** What its holder shows. */
  token: string;
  /** Epoch ms. */
  leaseUntil: number;
};
