import type { AgentDefinition } from '../../catalog/definitions.js';
import { parseDuration } from '../../common/units.js';

/** The engine kind of agents whose executions external workers claim and complete. No process runs them. */
export const EXTERNAL_KIND = 'external';

/** An external agent's `engine` object. */
export interface ExternalOptions {
  kind: typeof EXTERNAL_KIND;
  assignee?: string;
  due?: { after: string; then: 'escalate' | 'fail'; to?: string };
}

/** The action on an execution that has not ended this many milliseconds after it was made. */
export type Due = { afterMs: number } & ({ then: 'escalate'; to: string } | { then: 'fail' });

export interface ExternalWork {
  /** The first assignee. Null if anyone may claim the execution. */
  assignee: string | null;
  due: Due | null;
}

export const isExternal = (agent: AgentDefinition | undefined): boolean => agent?.engine.kind === EXTERNAL_KIND;

/**
 * True if its executions can be leased outside of this process: claimed by external workers, or left to a remote agent
 * that answers later.
 */
export const mayRunOutside = (agent: AgentDefinition | undefined): boolean =>
  isExternal(agent) || agent?.engine.kind === 'http';

/** Returns what the configuration says about an external agent's executions, or null for any other agent. */
export function externalWork(agent: AgentDefinition | undefined): ExternalWork | null {
  if (!agent || !isExternal(agent)) return null;
  const { assignee = null, due } = agent.engine as unknown as ExternalOptions;
  return { assignee, due: due ? dueOf(due) : null };
}

function dueOf({ after, then, to }: NonNullable<ExternalOptions['due']>): Due {
  const afterMs = parseDuration(after)!;
  return then === 'escalate' ? { afterMs, then, to: to! } : { afterMs, then };
}
