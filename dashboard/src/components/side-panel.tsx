import { type ReactNode, useEffect, useRef } from 'react';

import { Icon } from './icon';

export interface SidePanelProps {
  title: string;
  close: () => void;
  children: ReactNode;
}

/** Shows the chosen item of a list: beside the list on wide screens and above it on narrow ones. Escape closes it. */
export function SidePanel({ title, close, children }: SidePanelProps): ReactNode {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    void panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div className="order-first min-w-0 shrink-0 xl:relative xl:order-none xl:w-112">
      <aside
        ref={panel}
        aria-label={title}
        onKeyDown={(event) => event.key === 'Escape' && close()}
        className="card flex flex-col gap-4 overflow-auto p-4 xl:absolute xl:inset-0"
      >
        <div className="flex items-center justify-between gap-2">
          <h2 className="text-body font-strong">{title}</h2>
          <button type="button" className="icon-button" aria-label={`Close ${title}`} onClick={close}>
            <Icon name="cross" />
          </button>
        </div>
        {children}
      </aside>
    </div>
  );
}

/** A list at the left and, if something in it is chosen, a SidePanel. */
export function WithPanel({ children }: { children: ReactNode }): ReactNode {
  return <div className="flex flex-1 flex-col gap-4 xl:min-h-0 xl:flex-row">{children}</div>;
}
