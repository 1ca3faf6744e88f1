import type { ReactNode } from 'react';

import type { Search } from '../../app/search';
import { Place } from '../../components/place';
import { StateIcon } from '../../components/state-badge';
import { numberText } from '../../formats';
import type { ViewPath } from '../../views';

export interface TileProps {
  state: string;
  title: string;
  /** Undefined until it is known. */
  count: number | undefined;
  /** The view of exactly the rows that are counted. Absent if there is none. */
  to?: ViewPath;
  search?: Search;
}

/** Counts, with links to the rows behind them. */
export function Tiles({ tiles }: { tiles: readonly TileProps[] }): ReactNode {
  return (
    <ul className="grid grid-cols-5 gap-2 xl:grid-cols-10">
      {tiles.map(({ state, title, count, to, search }) => (
        <li key={title} className="card flex flex-col justify-between gap-1 px-2.5 py-2">
          <span className="text-label text-muted">
            {to === undefined ? (
              title
            ) : (
              <Place to={to} search={search} className="hover:underline">
                {title}
              </Place>
            )}
          </span>
          <span className={`flex items-center gap-1.5 text-title tabular-nums ${count ? 'font-strong' : 'text-muted'}`}>
            {count === undefined ? '–' : numberText(count)}
            {count !== undefined && count > 0 && <StateIcon state={state} />}
          </span>
        </li>
      ))}
    </ul>
  );
}
