import type { AgentDefinition } from '../../catalog/definitions.js';
import { parseDuration } from '../../common/durations.js';

/** The kind of an agent whose executions are fetched and completed from outside; no process runs them. */
export const EXTERNAL_KIND = 'external';

/** An external agent's `engine` object. */
export interface ExternalOptions {
  kind: typeof EXTERNAL_KIND;
  assignee?: string;
  due?: { after: string; then: 'escalate' | 'fail'; to?: string };
}

/** What happens to an execution so many milliseconds after its making, if it has not ended. */
export type Due = { afterMs: number } & ({ then: 'escalate'; to: string } | { then: 'fail' });

export interface ExternalWork {
  /** Whose it is at first; null where it is anybody's. */
  assignee: string | null;
  due: Due | null;
}

export const isExternal = (agent: AgentDefinition | undefined): boolean => agent?.engine.kind === EXTERNAL_KIND;

/** Whether executions of it may be held by somebody outside: fetched from there, or left to a remote agent that answers later. */
export const mayRunOutside = (agent: AgentDefinition | undefined): boolean => isExternal(agent) || agent?.engine.kind === 'http';

/** What the configuration says of an external agent's executions; null for any other agent. */
export function externalWork(agent: AgentDefinition | undefined): ExternalWork | null {
  if (!agent || !isExternal(agent)) return null;
  const { assignee = null, due } = agent.engine as unknown as ExternalOptions;
  return { assignee, due: due ? dueOf(due) : null };
}

function dueOf({ after, then, to }: NonNullable<ExternalOptions['due']>): Due {
  const afterMs = parseDuration(after)!;
  return then === 'escalate' ? { afterMs, then, to: to! } : { afterMs, then };
}
