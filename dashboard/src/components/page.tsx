import type { ReactNode } from 'react';

export interface PageProps {
  title: ReactNode;
  /** One line under the title. */
  about?: ReactNode;
  /** Buttons at the right, "copy as curl" among them. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of every view. A list in it takes the height that is left. */
export function Page({ title, about, actions, children }: PageProps): ReactNode {
  return (
    <div className="flex min-h-full flex-col gap-4 p-4 lg:px-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="min-w-0">
          <h1 className="text-title font-strong">{title}</h1>
          {about !== undefined && <div className="text-table text-muted">{about}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
