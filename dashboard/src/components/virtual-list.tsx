import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

import type { Rows } from '../api/queries';
import { Icon } from './icon';
import { Failure, LoadingRows } from './states';
import { useWidth } from './use-width';

export interface Column<Row> {
  id: string;
  title: string;
  /** A track of a CSS grid, such as `120px` or `minmax(0, 1fr)`. */
  width: string;
  /** The list must be as many pixels wide to show it. */
  from?: number;
  align?: 'end';
  /** Its title sorts the list; see `VirtualListProps.sort`. */
  isSortable?: boolean;
  render: (row: Row) => ReactNode;
}

export interface VirtualListProps<Row> {
  /** The name of the list for screen readers. */
  label: string;
  columns: Column<Row>[];
  pages: Rows<Row>;
  keyOf: (row: Row) => string;
  /** Shown instead of rows if the list is empty. */
  empty: ReactNode;
  /** Rows that came since the list was read; undefined if it is not known how many. */
  news?: { count: number | undefined; show: () => void };
  sort?: Sort;
  /**
   * Returns the text of a row that is a note about the list and not an item of it. The text takes the width of all
   * columns.
   */
  noteOf?: (row: Row) => ReactNode;
  /** Shown below the last row. */
  end?: ReactNode;
}

/** The order of a list that is read completely. The view sorts its rows itself. */
export interface Sort {
  /** The id of a column; empty for the order of the API. */
  by: string;
  order: 'desc' | 'asc';
  change: (by: string, order: 'desc' | 'asc') => void;
}

/** Rows that exist above and below those in sight. */
const OVERSCAN = 12;

/** Rows before the end of the list at which the next page is read. */
const AHEAD = 20;

/**
 * A table of any length: only the rows in sight exist, and further pages are read while it is scrolled. Arrow keys move
 * between the first links of the rows.
 */
export function VirtualList<Row>({
  label,
  columns,
  pages,
  keyOf,
  empty,
  news,
  sort,
  noteOf,
  end,
}: VirtualListProps<Row>): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const rowHeight = useRowHeight();
  const { hasMore, isLoadingMore, loadMore } = pages;
  const rows = withoutRepetition(pages.rows, keyOf);
  const shown = columns.filter(({ from = 0 }) => width >= from);
  const template = { gridTemplateColumns: shown.map((column) => column.width).join(' ') };
  // The rows in sight are drawn before those around them.
  const overscan = useDeferredValue(OVERSCAN, 0);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(rows[index]!),
    overscan,
  });
  useLayoutEffect(() => virtualizer.measure(), [rowHeight, virtualizer]);
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - AHEAD) loadMore();
  });

  const moveFocus = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = (event.target as HTMLElement).closest('[data-index]');
    if (step === undefined || row === null) return;
    event.preventDefault();
    const index = Math.min(rows.length - 1, Math.max(0, Number(row.getAttribute('data-index')) + step));
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() => focusRow(scroller.current, index));
  };

  const body = (): ReactNode => {
    if (pages.error && rows.length === 0) return <Failure error={pages.error} retry={() => void pages.restart()} />;
    if (pages.isLoading) return <LoadingRows />;
    if (rows.length === 0) return empty;
    return (
      <div
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        onKeyDown={moveFocus}
        className="min-w-full"
      >
        <div role="rowgroup" className="sticky top-0 z-10">
          <div
            role="row"
            aria-rowindex={1}
            className="grid h-8 items-center border-b border-line bg-surface"
            style={template}
          >
            {shown.map((column) => (
              <Title key={column.id} column={column} sort={sort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <div
              key={key}
              role="row"
              data-index={index}
              aria-rowindex={index + 2}
              className="absolute top-0 left-0 grid h-row w-full items-center border-b border-line text-table hover:bg-raised focus-within:bg-raised"
              style={{ ...template, transform: `translateY(${start}px)` }}
            >
              <Cells columns={shown} row={rows[index]!} note={noteOf?.(rows[index]!)} />
            </div>
          ))}
        </div>
        {isLoadingMore ? <p className="p-3 text-label text-muted">Loading more…</p> : end}
      </div>
    );
  };

  return (
    <div className="relative flex min-h-80 flex-1 basis-0 flex-col">
      {news && (
        <button
          type="button"
          className="button-main absolute top-10 left-1/2 z-20 -translate-x-1/2 shadow-overlay"
          onClick={() => {
            scroller.current?.scrollTo({ top: 0 });
            news.show();
          }}
        >
          {news.count === undefined ? 'Show what is new' : `${news.count} new`}
        </button>
      )}
      <div
        ref={scroller}
        className="card min-h-0 flex-1 overflow-auto"
        role="region"
        aria-label={label}
        tabIndex={0}
        data-scroller
      >
        {body()}
      </div>
    </div>
  );
}

function Title<Row>({ column, sort }: { column: Column<Row>; sort: Sort | undefined }): ReactNode {
  const { id, title, align, isSortable = false } = column;
  const order = sort?.by === id ? sort.order : undefined;
  const aria = order && ({ asc: 'ascending', desc: 'descending' } as const)[order];
  return (
    <div
      role="columnheader"
      aria-sort={aria}
      className={`truncate px-3 text-label text-muted ${align === 'end' ? 'text-right' : ''}`}
    >
      {sort && isSortable ? (
        <button
          type="button"
          className={`relative h-7 hover:text-text ${order ? 'font-strong text-text' : ''}`}
          onClick={() => sort.change(...next(id, order))}
        >
          {title}
          {order && (
            <Icon
              name={order === 'desc' ? 'down' : 'up'}
              className="absolute top-1/2 left-full size-3 -translate-y-1/2"
            />
          )}
        </button>
      ) : (
        title
      )}
    </div>
  );
}

/** The largest first, then the smallest, then the order of the API. */
function next(id: string, order: Sort['order'] | undefined): Parameters<Sort['change']> {
  if (order === undefined) return [id, 'desc'];
  return order === 'desc' ? [id, 'asc'] : ['', 'desc'];
}

interface CellsProps<Row> {
  columns: Column<Row>[];
  row: Row;
  note: ReactNode;
}

function Cells<Row>({ columns, row, note }: CellsProps<Row>): ReactNode {
  if (note !== undefined)
    return (
      <div role="cell" aria-colspan={columns.length} className="col-span-full truncate px-3 text-muted">
        {note}
      </div>
    );
  return columns.map(({ id, align, render }) => (
    <div key={id} role="cell" className={`truncate px-3 ${align === 'end' ? 'text-right' : ''}`}>
      {render(row)}
    </div>
  ));
}

/** A list that is read by offset moves while it is read, and then a page repeats rows of the page before. */
function withoutRepetition<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => seen.size < seen.add(keyOf(row)).size);
}

function focusRow(scroller: HTMLElement | null, index: number): void {
  scroller?.querySelector<HTMLElement>(`[data-index="${index}"] :is(a, button)`)?.focus({ preventScroll: true });
}

/** The height of a row changes with the switch for dense rows. */
function useRowHeight(): number {
  const [height, setHeight] = useState(readRowHeight);
  useEffect(() => {
    const observer = new MutationObserver(() => setHeight(readRowHeight()));
    observer.observe(document.documentElement, { attributeFilter: ['data-rows'] });
    return () => observer.disconnect();
  }, []);
  return height;
}

const readRowHeight = (): number =>
  parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 36;
