import type { ClaimedExecution } from '../execution/claimed-execution.js';

/** A request to claim executions of external agents. */
export interface ClaimRequest {
  /** External agents. Executions of the first are claimed before those of the next. */
  agents: readonly string[];
  /** The maximum number of executions to claim. */
  max: number;
  /** Claims only executions that are assigned to this assignee; null: only unassigned ones. */
  assignee: string | null;
  /** The name that is shown as the execution's claimant. */
  claimedBy: string | null;
}

/** The work that a claim with an assignee waits for. */
export interface AskedFor {
  agent: string;
  assignee: string;
}

/** `whyNot`: why it cannot be claimed now; null if its state is the reason. */
export type ClaimOfOne = { held: HeldExecution } | { whyNot: string | null };

/** An execution that a client has claimed. */
export type HeldExecution = Omit<ClaimedExecution, 'inputs'> & {
  /** The `lease_token` that the client sends with each request about the execution. */
  token: string;
  /** Epoch ms. */
  leaseUntil: number;
};
