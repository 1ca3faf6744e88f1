import type { ReactNode } from 'react';

import { Icon, type IconName } from './icon';

/** Every state of the API, with its colour and its icon. A state is never shown by colour alone. */
const LOOKS: Record<string, { icon: IconName; colour: string; word?: string }> = {
  completed: { icon: 'check', colour: 'text-completed' },
  succeeded: { icon: 'check', colour: 'text-completed' },
  delivered: { icon: 'check', colour: 'text-completed' },
  ok: { icon: 'check', colour: 'text-completed' },
  failed: { icon: 'cross', colour: 'text-failed' },
  dead: { icon: 'cross', colour: 'text-failed' },
  error: { icon: 'cross', colour: 'text-failed' },
  running: { icon: 'ring', colour: 'text-running' },
  active: { icon: 'ring', colour: 'text-running' },
  processing: { icon: 'ring', colour: 'text-running' },
  starting: { icon: 'ring', colour: 'text-running' },
  pending: { icon: 'dot', colour: 'text-idle' },
  waiting: { icon: 'waiting', colour: 'text-waiting' },
  claimed: { icon: 'waiting', colour: 'text-waiting' },
  retrying: { icon: 'again', colour: 'text-waiting' },
  cancelled: { icon: 'slash', colour: 'text-idle' },
  not_found: { icon: 'slash', colour: 'text-idle', word: 'not found' },
  paused: { icon: 'bars', colour: 'text-paused' },
};

export function StateBadge({ state }: { state: string }): ReactNode {
  const { icon, colour, word } = LOOKS[state] ?? { icon: 'dot' as const, colour: 'text-idle' };
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap text-table ${colour}`}>
      <Icon name={icon} />
      {word ?? state.replaceAll('_', ' ')}
    </span>
  );
}
