import type { ReactNode } from 'react';

import { Icon, type IconName } from '../icon';

export interface ZoomButtonsProps {
  zoom: (step: 'in' | 'out') => void;
  fit: () => void;
}

export function ZoomButtons({ zoom, fit }: ZoomButtonsProps): ReactNode {
  return (
    <div
      role="group"
      aria-label="Zoom"
      className="absolute bottom-2 left-2 z-10 flex flex-col rounded-md border border-line bg-surface"
    >
      <ZoomButton icon="plus" label="Zoom in" keys="+" onClick={() => zoom('in')} />
      <ZoomButton icon="minus" label="Zoom out" keys="-" onClick={() => zoom('out')} />
      <ZoomButton icon="fit" label="Show the whole graph" keys="0" onClick={fit} />
    </div>
  );
}

interface ZoomButtonProps {
  icon: IconName;
  label: string;
  /** The key that does the same while the graph has the focus. */
  keys: string;
  onClick: () => void;
}

function ZoomButton({ icon, label, keys, onClick }: ZoomButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      aria-keyshortcuts={keys}
      title={`${label} (${keys})`}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
