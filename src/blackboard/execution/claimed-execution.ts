import type { Catalog } from '../../catalog/catalog.js';
import type { AgentChange } from '../../catalog/overrides.js';
import { BASE } from '../../catalog/variants.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import type { ExecutionRow } from './leased-executions.js';

/** An execution that this process holds by a lease. */
export interface ClaimedExecution {
  id: string;
  agent: string;
  correlationId: string;
  attempt: number;
  direct: boolean;
  /** Its correlation is a replay. */
  replay: boolean;
  batch: boolean;
  /** The outcome is committed only while the execution has this lease. */
  leaseToken: string;
  /** The span that caused the execution; null if nothing is traced. */
  traceparent: string | null;
  /** The assignee of an external agent's execution; null if any client may claim it. */
  assignee: string | null;
  /** When it escalates or fails unless it has ended (epoch ms); null for never. */
  dueAt: number | null;
  /** The limits that it takes part in; see ExecutionsTable. */
  limitKeys: string | null;
  /** Its inputs in the order in which the agent sees them. */
  inputs: ExecutionInput[];
  /** The digest of its agent's definition in this process; null if that is not known. */
  definition: string | null;
  /** The differences of its agent, because its correlation is a replay; null for none. */
  change: AgentChange | null;
  /** The variant of its agent with which it runs, or `base`. Null if its agent has none, or if its replay changes the agent. */
  variant: string | null;
  /** How long it waited to be claimed, in ms. */
  waitedMs: number;
  /** A process has lost its lease before, which may have been its fault. */
  hasLostLease: boolean;
}

type Row = Pick<
  ExecutionRow,
  | 'id'
  | 'correlation_id'
  | 'attempt'
  | 'direct'
  | 'replay'
  | 'batch'
  | 'traceparent'
  | 'assignee'
  | 'due_at'
  | 'limit_keys'
  | 'created_at'
  | 'lost_leases'
> & { agent: string };

/** Returns the execution of a row that was claimed, or inserted with a lease, at `now` (epoch ms). */
export const claimedExecution = (
  row: Row,
  held: Pick<ClaimedExecution, 'leaseToken' | 'inputs' | 'definition' | 'change' | 'variant'> & { now: number },
): ClaimedExecution => ({
  id: row.id,
  agent: row.agent,
  correlationId: row.correlation_id,
  attempt: row.attempt,
  direct: row.direct === 1,
  replay: row.replay > 0,
  batch: row.batch === 1,
  leaseToken: held.leaseToken,
  traceparent: row.traceparent,
  assignee: row.assignee,
  dueAt: row.due_at,
  limitKeys: row.limit_keys,
  inputs: held.inputs,
  definition: held.definition,
  change: held.change,
  variant: held.variant,
  waitedMs: held.now - row.created_at,
  hasLostLease: row.lost_leases > 0,
});

/** Returns the digest of an agent's definition in this process, with this variant; null if that is not known. */
export function definitionOf({ definitions }: Catalog, agent: string, variant: string | null = null): string | null {
  const own = definitions.get(agent);
  return (variant === null || variant === BASE ? own : own?.variants.get(variant))?.digest ?? null;
}
