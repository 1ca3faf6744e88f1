import type { ReactNode } from 'react';

import type { Search } from '../../app/search';
import { Place } from '../../components/place';
import { isRegistered, type ViewPath } from '../../views';

export interface PanelProps {
  title: string;
  /** At the right of the title. */
  action?: ReactNode;
  /** It is at least as high as so many rows, so that what is below it stays where it is when its content comes. */
  rows?: number;
  children: ReactNode;
}

/** One group of the overview. */
export function Panel({ title, action, rows = 0, children }: PanelProps): ReactNode {
  return (
    <section aria-label={title} className="card min-w-0">
      <div className="flex min-h-10 items-center justify-between gap-4 border-b border-line px-3">
        <h2 className="text-body font-strong">{title}</h2>
        {action}
      </div>
      <div style={{ minHeight: `calc(var(--row) * ${rows})` }}>{children}</div>
    </section>
  );
}

/** A link to the view that has all rows. */
export function AllOf({ to, search, text = 'All' }: { to: ViewPath; search?: Search; text?: string }): ReactNode {
  return isRegistered(to) ? (
    <Place to={to} search={search} className="link text-table">
      {text}
    </Place>
  ) : null;
}
