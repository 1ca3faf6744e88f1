import type { Selectable } from 'kysely';

import type { ExecutionsTable } from '../../database/schema.js';

/**
 * Until when a worker outside of Starling holds an execution (epoch ms). Null if none does: the lease of a process does
 * not count.
 */
export const heldUntil = ({
  state,
  lease_owner,
  lease_until,
}: Pick<Selectable<ExecutionsTable>, 'state' | 'lease_owner' | 'lease_until'>): number | null =>
  state === 'running' && lease_owner === null ? lease_until : null;
