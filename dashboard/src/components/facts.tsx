import { Fragment, type ReactNode } from 'react';

export type Fact = readonly [name: string, value: ReactNode];

/** Names with their values. A value of `null` leaves its name out. */
export function Facts({ facts }: { facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="grid grid-cols-[minmax(72px,auto)_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1 text-table">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <Fragment key={name}>
              <dt className="text-label text-muted">{name}</dt>
              <dd className="min-w-0">{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
