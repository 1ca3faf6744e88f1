import type { Selectable } from 'kysely';
import type { ExecutionsTable } from '../../database/schema.js';

/** Until when somebody outside holds an execution (epoch ms); null where nobody does: what a process runs is that process's own. */
export const heldUntil = ({ state, lease_owner, lease_until }: Pick<Selectable<ExecutionsTable>, 'state' | 'lease_owner' | 'lease_until'>): number | null =>
  state === 'running' && lease_owner === null ? lease_until : null;
