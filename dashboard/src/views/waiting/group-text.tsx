import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { countText, numberText } from '../../formats';

export type Group = Schemas['OpenGroupBody'];

export const KINDS: Record<Group['kind'], string> = { join: 'Join', window: 'Batch window' };

/** "Intent", or "2 Invoice, 1 Order". */
export const receivedText = ({ received }: Group): string =>
  Object.entries(received)
    .map(([type, count]) => (count === 1 ? type : `${numberText(count)} ${type}`))
    .join(', ');

/** Returns what must arrive or happen before the agent runs. */
export function Missing({ group }: { group: Group }): ReactNode {
  const { kind, state, waiting_for, size, size_needed, without_process } = group;
  if (state === 'complete') return <span className="text-muted">nothing; its condition is evaluated</span>;
  if (kind === 'join') return <span className="text-waiting">{waiting_for.join(', ')}</span>;
  if (size_needed === null)
    return (
      <span className="text-muted">{without_process ? 'unknown' : 'nothing; it runs with the last artifact'}</span>
    );
  return <span className="text-waiting">{countText(size_needed - size, 'more', 'more')}</span>;
}
