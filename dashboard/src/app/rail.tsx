import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Icon } from '../components/icon';
import { views } from '../views';

/** The views: at the left, as icons on middling screens, and along the bottom of narrow ones. */
export function Rail(): ReactNode {
  return (
    <nav
      aria-label="Views"
      className="flex shrink-0 gap-0.5 overflow-x-auto border-t border-line bg-surface p-1 sm:w-14 sm:flex-col sm:overflow-x-hidden sm:overflow-y-auto sm:border-t-0 sm:border-r sm:p-2 lg:w-56"
    >
      <span className="hidden h-8 items-center px-2 text-body font-strong lg:flex">Starling</span>
      {views.map(
        ({ path, title, icon }) =>
          icon && (
            <Link
              key={path}
              to={path as string}
              title={title}
              activeOptions={{ exact: path === '/', includeSearch: false }}
              activeProps={{ className: 'bg-selected font-strong text-text', 'aria-current': 'page' }}
              inactiveProps={{ className: 'text-muted' }}
              className="flex h-10 shrink-0 flex-col items-center justify-center gap-1 rounded-md px-2 text-label transition-colors duration-100 hover:bg-raised hover:text-text sm:h-8 sm:flex-row lg:justify-start lg:gap-2.5 lg:text-table"
            >
              <Icon name={icon} />
              <span className="sm:sr-only lg:not-sr-only">{title}</span>
            </Link>
          ),
      )}
    </nav>
  );
}
