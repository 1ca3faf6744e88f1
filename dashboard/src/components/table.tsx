import type { ReactNode } from 'react';

/** The classes of a row and of its cells. */
export const ROW = 'border-b border-line align-top last:border-b-0 hover:bg-raised';
export const CELL = 'px-3 py-2';

export interface TableProps {
  label: string;
  columns: readonly string[];
  /** How many columns at the end have numbers. */
  numbers?: number;
  /** The least width, below which it scrolls. */
  width: string;
  children: ReactNode;
}

/** A table of a few rows, which scrolls sideways if it is narrower than `width`. */
export function Table({ label, columns, numbers = 0, width, children }: TableProps): ReactNode {
  return (
    <div className="overflow-x-auto" role="group" aria-label={`${label}, table`} tabIndex={0}>
      <table aria-label={label} className={`w-full text-table ${width}`}>
        <thead>
          <tr className="h-8 border-b border-line text-left text-label text-muted">
            {columns.map((title, index) => (
              <th
                key={title}
                scope="col"
                className={`px-3 font-normal ${index >= columns.length - numbers ? 'text-right' : ''}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
