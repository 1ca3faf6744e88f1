import type { ReactNode } from 'react';

import { ApiError } from '../api/client';
import { Icon, type IconName } from './icon';

export interface EmptyProps {
  icon: IconName;
  title: string;
  /** Says what to do first, or how to see more. */
  children?: ReactNode;
}

/** Nothing to show. */
export function Empty({ icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon name={icon} className="size-6 text-muted" />
      <p className="font-strong">{title}</p>
      {children !== undefined && <p className="max-w-120 text-table text-muted">{children}</p>}
    </div>
  );
}

/** Nothing to show, because of the filters. `of` is what the list has, such as "execution". */
export function NoMatch({ icon, of, clear }: { icon: IconName; of: string; clear: () => void }): ReactNode {
  return (
    <Empty icon={icon} title={`No ${of} matches these filters`}>
      <button type="button" className="button" onClick={clear}>
        Clear filters
      </button>
    </Empty>
  );
}

/** A request failed: what the server says, and a button that asks again. */
export function Failure({ error, retry }: { error: Error; retry?: () => void }): ReactNode {
  const title = error instanceof ApiError && error.status === 404 ? 'Not found' : 'This could not be loaded';
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon name="warning" className="size-6 text-failed" />
      <p className="font-strong">{title}</p>
      <p className="max-w-160 text-table text-muted">{error.message}</p>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          <Icon name="again" />
          Try again
        </button>
      )}
    </div>
  );
}

/** A part of a view could not be read: what the server says, in one line, and a button that asks again. */
export function FailureLine({ error, retry }: { error: Error; retry: () => void }): ReactNode {
  return (
    <p role="alert" className="flex flex-wrap items-center gap-3 p-3 text-table text-muted">
      This could not be read: {error.message}
      <button type="button" className="button" onClick={retry}>
        <Icon name="again" />
        Try again
      </button>
    </p>
  );
}

/** As many grey rows as there will probably be, so that nothing jumps when they arrive. */
export function LoadingRows({ count = 12 }: { count?: number }): ReactNode {
  return (
    <div data-loading>
      <span className="sr-only">Loading</span>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="flex h-row items-center border-b border-line px-3">
          <div className={`h-3 rounded-md bg-raised ${WIDTHS[index % WIDTHS.length]}`} />
        </div>
      ))}
    </div>
  );
}

const WIDTHS = ['w-2/5', 'w-1/2', 'w-1/3', 'w-3/5'];
