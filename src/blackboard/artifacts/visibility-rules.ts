import type { AgentDefinition } from '../../catalog/definitions.js';
import { type LastingVisibility, PUBLIC, type Visibility } from '../../catalog/visibility.js';
import { parseDuration } from '../../common/units.js';

/** When an `After` artifact is released (epoch ms); null for the other kinds, which apply from the start. */
export function releaseTime(visibility: Visibility, createdAt: number): number | null {
  return visibility.kind === 'After' ? createdAt + (parseDuration(visibility.ttl) ?? 0) : null;
}

/**
 * Whether `agent` may see, at `now`, an artifact with this visibility that was created at `createdAt` (epoch ms both).
 */
export function canSee(agent: AgentDefinition, visibility: Visibility, createdAt: number, now: number): boolean {
  const released = releaseTime(visibility, createdAt);
  if (released !== null && now < released) return false;
  return lastingVisibilityAdmits(agent, visibility.kind === 'After' ? (visibility.then ?? PUBLIC) : visibility);
}

function lastingVisibilityAdmits(agent: AgentDefinition, visibility: LastingVisibility): boolean {
  switch (visibility.kind) {
    case 'Public':
      return true;
    case 'Private':
      return visibility.agents.includes(agent.name);
    case 'Labelled':
      return visibility.required_labels.every((label) => agent.labels.includes(label));
    case 'Tenant':
      return visibility.tenant_id === null || visibility.tenant_id === agent.tenantId;
  }
}
