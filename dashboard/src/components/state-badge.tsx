import type { ReactNode } from 'react';

import { Icon, type IconName } from './icon';

/** Every state of the API, with its colour and its icon. A state is never shown by colour alone. */
const LOOKS: Record<string, { icon: IconName; colour: string; word?: string }> = {
  completed: { icon: 'check', colour: 'text-completed' },
  succeeded: { icon: 'check', colour: 'text-completed' },
  delivered: { icon: 'check', colour: 'text-completed' },
  published: { icon: 'check', colour: 'text-completed' },
  ok: { icon: 'check', colour: 'text-completed' },
  failed: { icon: 'cross', colour: 'text-failed' },
  dead: { icon: 'cross', colour: 'text-failed' },
  failing: { icon: 'cross', colour: 'text-failed' },
  error: { icon: 'cross', colour: 'text-failed' },
  running: { icon: 'ring', colour: 'text-running' },
  active: { icon: 'ring', colour: 'text-running' },
  processing: { icon: 'ring', colour: 'text-running' },
  starting: { icon: 'ring', colour: 'text-running' },
  pending: { icon: 'dot', colour: 'text-idle' },
  waiting: { icon: 'waiting', colour: 'text-waiting' },
  queued: { icon: 'waiting', colour: 'text-waiting' },
  claimed: { icon: 'waiting', colour: 'text-waiting' },
  retrying: { icon: 'again', colour: 'text-waiting' },
  cancelled: { icon: 'slash', colour: 'text-idle' },
  skipped: { icon: 'slash', colour: 'text-idle' },
  not_found: { icon: 'slash', colour: 'text-idle', word: 'not found' },
  paused: { icon: 'bars', colour: 'text-paused' },
};

const lookOf = (state: string): (typeof LOOKS)[string] => LOOKS[state] ?? { icon: 'dot', colour: 'text-idle' };

const wordOf = (state: string): string => LOOKS[state]?.word ?? state.replaceAll('_', ' ');

/** A state for narrow places; its word is there for screen readers and on hover. */
export function StateIcon({ state }: { state: string }): ReactNode {
  const { icon, colour } = lookOf(state);
  return (
    <span title={wordOf(state)} className="inline-flex">
      <Icon name={icon} label={wordOf(state)} className={colour} />
    </span>
  );
}

export function StateBadge({ state }: { state: string }): ReactNode {
  const { icon, colour } = lookOf(state);
  return (
    <span
      className={`inline-flex items-center gap-1.5 align-middle whitespace-nowrap text-table font-normal ${colour}`}
    >
      <Icon name={icon} />
      {wordOf(state)}
    </span>
  );
}
