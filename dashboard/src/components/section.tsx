import { type ReactNode, useId } from 'react';

export interface SectionProps {
  title: string;
  /** Buttons and fields beside the title. */
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A part of a view, with a title. */
export function Section({ title, actions, className = '', children }: SectionProps): ReactNode {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`card flex min-w-0 flex-col ${className}`}>
      <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-3 py-1.5">
        <h2 id={id} className="text-body font-strong">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
