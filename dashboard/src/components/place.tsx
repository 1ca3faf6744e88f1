import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { Search } from '../app/search';
import { isRegistered, type ViewPath } from '../views';

export interface PlaceProps {
  to: ViewPath;
  /** The values of the parameters in the path. */
  params?: Record<string, string>;
  search?: Search;
  className?: string;
  children: ReactNode;
}

/** A link to a view, or plain text if the view is not registered. */
export function Place({ to, params, search, className = 'link', children }: PlaceProps): ReactNode {
  if (!isRegistered(to)) return children;
  return (
    <Link to={to as string} params={params as never} search={(search ?? {}) as never} className={className}>
      {children}
    </Link>
  );
}
